import { parseArgs } from 'node:util'
import { z } from 'zod'

/** A list of items, separated by commas. */
export const list = <T>(item: z.ZodType<T, string>) =>
  z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(item).min(1))

/** A number of the command line above 0. */
export const positive = z.coerce.number<string>().positive()

/**
 * Runs a program of the command line: prints `usage` when `--help` is given, otherwise runs `work` with the options. Prints
 * the message of an error and sets the exit code to 1.
 *
 * @param options the options by their names. A boolean one is a flag, the others have a value.
 */
export const runCommand = async <S extends z.ZodRawShape>(
  name: string,
  usage: string,
  options: S,
  work: (options: z.infer<z.ZodObject<S>>) => Promise<void>,
): Promise<void> => {
  try {
    if (process.argv.includes('--help')) process.stdout.write(usage)
    else await work(readOptions(options))
  } catch (error) {
    process.stderr.write(`${name}: ${messageOf(error)}\n`)
    process.exitCode = 1
  }
}

const readOptions = <S extends z.ZodRawShape>(shape: S) => {
  const schema = z.object(shape)
  const isFlag = (name: string) => schema.shape[name] instanceof z.ZodDefault && isBoolean(schema.shape[name])
  const names = Object.keys(shape).map((name) => [name, { type: isFlag(name) ? 'boolean' : 'string' }])
  const { data, error } = schema.safeParse(parseArgs({ options: Object.fromEntries(names) }).values)
  if (data) return data
  const [{ path, message }] = error!.issues as [z.core.$ZodIssue]
  throw new Error(`--${path[0]?.toString()}: ${message}`)
}

const isBoolean = (option: z.ZodDefault) => option.unwrap() instanceof z.ZodBoolean

/** The message of the first error. Errors of the cleanup that followed it are left out. */
const messageOf = (error: unknown): string => {
  if (error instanceof SuppressedError) return messageOf(error.suppressed)
  return error instanceof Error ? error.message : `${error}`
}
