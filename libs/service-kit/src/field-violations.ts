import { type FieldViolation, fieldPath } from '@fms/aip'
import type { z } from 'zod'

/**
 * Every fault that a schema found, one entry each, with the path as clients write it: `form.steps[2].key`.
 *
 * @param root what stands before the path, such as `form`.
 */
export const toFieldViolations = (error: z.core.$ZodError, ...root: PropertyKey[]): FieldViolation[] =>
  error.issues.flatMap((issue) => violationsOf(issue, root))

const violationsOf = (issue: z.core.$ZodIssue, root: PropertyKey[]): FieldViolation[] => {
  const path = [...root, ...issue.path]
  const field = fieldPath(path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        field: fieldPath([...path, key]),
        description: 'is not a known field',
      }))
    case 'invalid_union':
      return alternativeOf(issue).flatMap((inner) => violationsOf(inner, path))
    case 'invalid_key':
      return issue.issues.flatMap((inner) => violationsOf({ ...inner, path: [] }, path))
    default:
      return [{ field, description: descriptionOf(issue) }]
  }
}

/** The contract's own words; shorter ones than Zod's where it has none. */
const descriptionOf = (issue: z.core.$ZodIssue): string => {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue) ? 'is required' : `must be ${article(issue.expected)}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    default:
      return issue.message
  }
}

/** The variant that the value's `type` asked for; faults of the others would only confuse. */
const alternativeOf = (issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] =>
  issue.errors.find((issues) => !issues.some(({ path }) => path[0] === 'type')) ?? issue.errors.at(-1) ?? []

const isMissing = ({ message }: z.core.$ZodIssueInvalidType) => message.endsWith('received undefined')

const article = (expected: string) => (/^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`)
