import { BSON, type CollectionInfo, type Document, MongoClient } from 'mongodb'

const { EJSON, ObjectId } = BSON

/** A database as lines of canonical Extended JSON: the indexes and the documents of each collection, by their names. */
export const dumpMongodb = async (url: string): Promise<string[]> => {
  await using client = new MongoClient(url)
  const database = client.db()
  const collections = await database.listCollections<CollectionInfo>().toArray()
  const lines: Document[] = []
  for (const collection of collections.map(({ name }) => name).sort()) {
    const { indexes, documents } = await contentOf(client, collection)
    lines.push(...indexes.map((index) => ({ collection, index })))
    lines.push(...documents.map((document) => ({ collection, document })))
  }
  return lines.map((line) => EJSON.stringify(line, { relaxed: false }))
}

const contentOf = async (client: MongoClient, name: string) => {
  const collection = client.db().collection(name)
  const indexes = (await collection.listIndexes().toArray()).filter((index) => index.name !== '_id_')
  const documents = await collection.find().sort({ _id: 1 }).toArray()
  return {
    indexes: indexes.map(({ v: _, ns: __, ...index }) => index),
    // The driver gives new ids to documents without one: a dump would differ each time.
    documents: documents.map(({ _id, ...document }) =>
      _id instanceof ObjectId ? document : { _id, ...document },
    ),
  }
}

/** Writes the content of a dump to an empty database. */
export const restoreMongodb = async (url: string, dump: readonly string[]): Promise<void> => {
  await using client = new MongoClient(url)
  for (const line of dump) {
    const { collection: name, index, document } = EJSON.parse(line, { relaxed: false })
    const collection = client.db().collection(name)
    if (document) await collection.insertOne(document)
    else {
      const { key, ...options } = index
      await collection.createIndex(toNumbers(key), options)
    }
  }
}

const toNumbers = (key: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(key).map(([field, direction]) => [field, Number(direction) as 1 | -1]))
