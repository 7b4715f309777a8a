import { readFile } from 'node:fs/promises'
import type { FormCheck } from '@fms/client'
import { type Api, withApi } from '../api/api.ts'
import { type Command, exampleForm } from '../cli/command.ts'
import { type Work, withoutControlCharacters } from '../cli/outcome.ts'

/** Adds the command that checks forms in files. It works only by the API. */
export const addCheckCommand = (forms: Command): void => {
  forms
    .command('check')
    .description('check forms in files through the API: whether they can be published, and warnings')
    .argument('<file...>', 'JSON: a form as a read returns it, or the body of a create')
    .requiredOption('--organization <ref>', 'id or slug of an organization of yours; nothing is stored in it')
    .action(withApi(check))
    .examples(`forms check --organization acme "$DATA_DIR/${exampleForm}.json"`)
}

type CheckedFile = FormCheck & { file: string }

const check: Work<Api, { organization: string }> = async (api, { organization }, files) => {
  const forms: CheckedFile[] = []
  for (const file of files) {
    forms.push({ file, ...(await api.forms.check(organization, await readForm(file))) })
  }
  return { json: { forms }, text: forms.flatMap(linesOf).map(withoutControlCharacters).join('\n') }
}

/** Reads a form, or the body of a create or an update, which has it in `form`. */
const readForm = async (file: string) => {
  const text = await readFile(file, 'utf8')
  try {
    const value = JSON.parse(text)
    return value?.form ?? value
  } catch (cause) {
    throw new Error(`${file} is not JSON. Name a file with one form.`, { cause })
  }
}

const linesOf = ({ file, publishable, violations, warnings }: CheckedFile): string[] => [
  `${file} ${publishable ? 'can' : 'cannot'} be published; ${warnings.length} warnings.`,
  ...violations.map(({ subject, description }) => `  error: ${subject} ${description}`),
  ...warnings.map(({ field, message }) => `  warning: ${field} ${message}`),
]
