// Run by the one-shot mongo-init of Compose, in mongosh, as MongoDB's root user. Initiates the replica set, and creates a
// user per process with access to its own databases. Idempotent; a later run updates passwords and privileges.
// Uses only db.adminCommand and sleep, because e2e/compose/mongosh.ts runs it without mongosh.

const users = [
  { user: 'organizations', password: process.env.MONGODB_ORGANIZATIONS_PASSWORD, databases: ['directory'] },
  { user: 'forms', password: process.env.MONGODB_FORMS_PASSWORD, databases: ['forms'] },
  { user: 'publisher', password: process.env.MONGODB_PUBLISHER_PASSWORD, databases: ['forms'] },
  {
    user: 'formctl',
    password: process.env.MONGODB_FORMCTL_PASSWORD,
    databases: ['directory', 'forms'],
    // For `formctl doctor`, which reads server parameters.
    roles: [{ role: 'clusterMonitor', db: 'admin' }],
  },
]

try {
  db.adminCommand({ replSetGetStatus: 1 })
} catch (error) {
  if (error.codeName !== 'NotYetInitialized') throw error
  db.adminCommand({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: 'mongo:27017' }] } })
}
while (!db.adminCommand({ hello: 1 }).isWritablePrimary) sleep(100)

for (const { user, password, databases, roles = [] } of users) {
  const isNew = db.adminCommand({ usersInfo: user }).users.length === 0
  db.adminCommand({
    [isNew ? 'createUser' : 'updateUser']: user,
    pwd: password,
    roles: [...databases.map((database) => ({ role: 'readWrite', db: database })), ...roles],
  })
}
