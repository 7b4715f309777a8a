import { vi } from 'vitest'
import { run } from '../run.ts'

/** The terminal of a test. Default: stdin and stdout are pipes. */
export interface TerminalInput {
  isOutputTty?: boolean
  /** The input at a prompt; undefined if stdin is not a terminal. */
  typed?: string
}

/** Runs a command line in this process. */
export const runFormctl = async (args: string[], { isOutputTty = false, typed }: TerminalInput = {}) => {
  let [stdout, stderr] = ['', '']
  const prompts: string[] = []
  const code = await run(args, {
    isOutputTty,
    isInputTty: typed !== undefined,
    print: (text) => {
      stdout += text
    },
    printError: (text) => {
      stderr += text
    },
    prompt: async (text) => {
      prompts.push(text)
      return typed ?? ''
    },
  })
  return { code, stdout, stderr, prompts }
}

/** Runs a command line in this process with further environment variables. */
export const runFormctlWith = async (env: NodeJS.ProcessEnv, args: string[]) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  try {
    return await runFormctl(args)
  } finally {
    vi.unstubAllEnvs()
  }
}
