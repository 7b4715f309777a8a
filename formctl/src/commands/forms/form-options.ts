import type { Command } from 'commander'

/** Options that name a form. */
export interface FormOptions {
  organization: string
  form: string
}

/** Adds the options of {@link FormOptions}. */
export const addFormOptions = (command: Command): Command =>
  command
    .requiredOption('--organization <ref>', 'id or slug')
    .requiredOption('--form <ref>', 'id or public id')

/** The path of a form below the base URL of the API. */
export const formPathOf = ({ organization, form }: FormOptions): string =>
  `/organizations/${encodeURIComponent(organization)}/forms/${encodeURIComponent(form)}`
