import { type Db, type Document, MongoServerError } from 'mongodb'

/** How an engine runs a query. */
export interface QueryPlan {
  /** The stages from the last to the first, such as `LIMIT, FETCH, IXSCAN forms_by_name`. */
  stages: string
  /** Number of index keys and documents that the engine read; undefined where it does not report them. */
  keys: number | undefined
  documents: number | undefined
}

/** Members of a command that the driver adds, and that `explain` does not take. */
const notExplained = [
  'lsid',
  '$db',
  '$clusterTime',
  '$readPreference',
  'txnNumber',
  'maxTimeMS',
  'writeConcern',
]

/**
 * Asks the engine how it runs a `find`, `count` or `aggregate` command.
 *
 * @returns undefined when the engine has no `explain`.
 * @param executes whether the engine runs the query for `explain` as it does otherwise. secantusdb ignores the limit
 *   and makes up the numbers of keys, so that only its stages are of use.
 */
export const explain = async (
  database: Db,
  command: Document,
  executes: boolean,
): Promise<QueryPlan | undefined> => {
  const explained = Object.fromEntries(
    Object.entries(command).filter(([name]) => !notExplained.includes(name)),
  )
  const verbosity = executes ? 'executionStats' : 'queryPlanner'
  const found = await database.command({ explain: explained, verbosity }).catch(undefinedIfUnknown)
  if (!found) return undefined
  const { queryPlanner, executionStats } = found.queryPlanner ? found : found.stages[0].$cursor
  return {
    stages: stagesOf(queryPlanner.winningPlan).join(', '),
    keys: executionStats?.totalKeysExamined,
    documents: executionStats?.totalDocsExamined,
  }
}

const commandNotFound = 59

const undefinedIfUnknown = (error: unknown): undefined => {
  if (error instanceof MongoServerError && error.code === commandNotFound) return undefined
  throw error
}

/** A plan of the slot-based engine has the stages in `queryPlan`. */
const stagesOf = ({ queryPlan, stage, indexName, inputStage, inputStages = [] }: Document): string[] => {
  if (queryPlan) return stagesOf(queryPlan)
  const inputs: Document[] = inputStage ? [inputStage] : inputStages
  return [indexName ? `${stage} ${indexName}` : stage, ...inputs.flatMap(stagesOf)]
}
