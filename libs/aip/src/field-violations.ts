import { z } from 'zod'
import { didYouMean, suggestion } from './did-you-mean.ts'
import { type FieldViolation, maxViolations } from './errors.ts'

// The message of an unknown member has the names of the known ones, which an issue does not have otherwise.
z.config({
  customError: ({ code, inst }) =>
    code === 'unrecognized_keys' && inst instanceof z.ZodObject
      ? Object.keys(inst.shape).join(' ')
      : undefined,
})

/**
 * Converts the issues of a Zod error to field violations (AIP-193), with paths such as `form.steps[2].key` below `root`.
 * Returns at most 1,001: one more than an error lists, so that the error can say that there are more.
 */
export const toFieldViolations = (error: z.core.$ZodError, ...root: PropertyKey[]): FieldViolation[] =>
  violationsOf(error.issues, root)
    .take(maxViolations + 1)
    .toArray()

function* violationsOf(issues: z.core.$ZodIssue[], root: PropertyKey[]): Generator<FieldViolation> {
  for (const issue of issues) yield* violationsOfIssue(issue, root)
}

function* violationsOfIssue(issue: z.core.$ZodIssue, root: PropertyKey[]): Generator<FieldViolation> {
  const path = [...root, ...issue.path]
  switch (issue.code) {
    case 'unrecognized_keys':
      for (const key of issue.keys) {
        const meant = didYouMean(key, issue.message.split(' '))
        yield { field: fieldPath([...path, key]), description: `is not a known field${suggestion(meant)}` }
      }
      break
    case 'invalid_union':
      if (!issue.message.startsWith('Invalid ')) yield { field: fieldPath(path), description: issue.message }
      else yield* violationsOf(issuesOfVariant(issue), path)
      break
    case 'invalid_key':
      for (const inner of issue.issues) yield* violationsOfIssue({ ...inner, path: [] }, path)
      break
    default:
      yield { field: fieldPath(path), description: descriptionOf(issue) }
  }
}

/** The message of the schema, or a short replacement for a default message of Zod. */
const descriptionOf = (issue: z.core.$ZodIssue): string => {
  if (!/^(Invalid|Too) /.test(issue.message)) return issue.message
  switch (issue.code) {
    case 'too_small':
      return `must be at least ${issue.minimum}`
    case 'too_big':
      return `must be at most ${issue.maximum}`
    case 'invalid_type':
      return isMissing(issue) ? 'is required' : `must be ${article(issue.expected)}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    default:
      return issue.message
  }
}

/** The issues of the variant that matches the value's `type`. Issues of the other variants would mislead. */
const issuesOfVariant = (issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] =>
  issue.errors.find((issues) => !issues.some(({ path }) => path[0] === 'type')) ?? issue.errors.at(-1) ?? []

const isMissing = ({ message }: z.core.$ZodIssueInvalidType) => message.endsWith('received undefined')

/** Zod calls an object with any members a record. */
const article = (expected: string) =>
  expected === 'record' ? 'an object' : `${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`

const maxPathLength = 500

/**
 * Formats a field path for errors: `['form', 'steps', 2, 'key']` becomes `form.steps[2].key`. Paths contain names from
 * the request, so the text is well-formed Unicode, cut off with `…` after 500 characters.
 */
export const fieldPath = (path: readonly PropertyKey[]): string => {
  let text = ''
  for (const [index, part] of path.entries()) {
    if (typeof part === 'number') text += `[${part}]`
    else text += index === 0 ? String(part) : `.${String(part)}`
    if (text.length > maxPathLength) return `${text.slice(0, maxPathLength)}…`.toWellFormed()
  }
  return text.toWellFormed()
}
