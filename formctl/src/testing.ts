import { run } from './run.ts'

/** Who sits at the terminal: by default nobody, as in a pipe. */
export interface Typist {
  isReading?: boolean
  /** What is typed when formctl asks; absent where stdin is no terminal. */
  answer?: string
}

/** Runs a command line in this process, at a terminal of the test's own. */
export const type = async (args: string[], { isReading = false, answer }: Typist = {}) => {
  let [stdout, stderr] = ['', '']
  const questions: string[] = []
  const code = await run(args, {
    isReading,
    isAnswering: answer !== undefined,
    print: (text) => {
      stdout += text
    },
    complain: (text) => {
      stderr += text
    },
    ask: async (question) => {
      questions.push(question)
      return answer ?? ''
    },
  })
  return { code, stdout, stderr, questions }
}
