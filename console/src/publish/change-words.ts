import type { FormChange, Step } from '@fms/client'
import { shortened } from '../elements/shortened.ts'
import type { Title } from '../elements/title.tsx'
import { namesInField } from '../json/field-path.ts'
import { asList, asText } from '../json/values.ts'
import { asOption } from '../preview/shown-step.ts'
import { texts } from '../texts.ts'

/** The steps of the two states of a comparison. */
export interface ComparedSteps {
  from: readonly Step[]
  to: readonly Step[]
}

type Labels = Readonly<Record<string, string>>
const members: Labels = texts.step.members
const fields: Labels = texts.fields
const themeFields: Labels = texts.theme.fields

/** A name may be that of a member which every object inherits. */
const labelIn = (labels: Labels, name: string): string | undefined =>
  Object.hasOwn(labels, name) ? labels[name] : undefined

/** A change as a sentence, such as `Question Fee removed`. */
export const wordsOfChange = (change: FormChange, { from, to }: ComparedSteps): Title => {
  const { kind, fromPointer, toPointer, before, after } = change
  const path = namesIn(toPointer ?? fromPointer)
  if (path === undefined) return `${wordsOfPath(namesInField(change.field))} ${texts.changes.kinds[kind]}`
  const step = stepAt(namesIn(toPointer), to) ?? stepAt(namesIn(fromPointer) ?? path, from)
  const place = wordsOfPath(path, step, after ?? before)
  const happened = texts.changes.kinds[kind]
  if (typeof place === 'string') return `${place} ${happened}`
  return { name: place.name, text: (name) => `${place.text(name)} ${happened}` }
}

/** Whether a change is about a step as a whole: its name says more than its JSON. */
export const isOfWholeStep = ({ fromPointer, toPointer }: FormChange): boolean =>
  /^\/steps\/\d+$/.test(toPointer ?? fromPointer ?? '')

/**
 * A place in a form, such as `Title of Fee`.
 *
 * @param path the names of the members around it; after `steps` the index or key of a step
 * @param step the one that the path leads to, or whose translation it leads to
 * @param value what is there: the text of an option
 */
export const wordsOfPath = (path: readonly string[], step?: Step, value?: unknown): Title => {
  if (path[0] === 'i18n') return wordsInI18n(path.slice(1), step)
  if (step === undefined) return path.map((name, index) => labelOf(name, path[index - 1])).join(' › ')
  const [member, ...inside] = path.slice(2)
  const name = shortened(asText(step.title) || asText(step.key))
  if (member === undefined) return { name, text: (name) => texts.changes.step(step.type, name) }
  const place =
    member === 'options' && inside.length > 0
      ? texts.changes.option(shortened(asOption(value).label))
      : wordsInStep([member, ...inside])
  return { name, text: (name) => texts.changes.memberOf(place, name) }
}

/** @param field of a form, such as `form.steps[2].title` */
export const wordsOfField = (field: string, steps: readonly Step[]): Title => {
  const names = namesInField(field)
  const step = stepAt(names, steps)
  const options = step && 'options' in step ? asList(step.options) : []
  return wordsOfPath(names, step, names[2] === 'options' ? options[Number(names[3])] : undefined)
}

/** @param path inside of a step */
const wordsInStep = ([member, ...inside]: readonly string[]): string => {
  const number = Number(inside[0])
  if (member !== 'branches' || Number.isNaN(number))
    return [member!, ...inside].map((each) => labelIn(members, each) ?? inWords(each)).join(' › ')
  const part = labelIn(branchParts, inside.at(-1)!)
  return [texts.branches.name(number + 1), ...(part ? [part] : [])].join(' › ')
}

const branchParts: Labels = {
  targetStepKey: texts.branches.target,
  stepKey: texts.branches.question,
  operator: texts.branches.comparison,
  value: texts.branches.answer,
}

/** @param path inside of `i18n` @param step whose translation is meant */
const wordsInI18n = ([member, locale, part, ...rest]: readonly string[], step: Step | undefined): Title => {
  if (member === 'sourceLocale') return texts.translations.source
  if (locale === undefined) return texts.translations.title
  if (member !== 'translations') return [texts.translations.title, inWords(locale)].join(' › ')
  if (part !== 'steps')
    return texts.translations.inLocale(part ? labelOf(part, undefined) : texts.translations.texts, locale)
  const [key = '', name = ''] = rest
  const what = labelIn(members, name) ?? texts.translations.texts
  return {
    name: shortened(asText(step?.title) || key),
    text: (name) => texts.translations.inLocale(texts.changes.memberOf(what, name), locale),
  }
}

const labelOf = (name: string, parent: string | undefined): string => {
  if (parent === 'theme') return labelIn(themeFields, name) ?? inWords(name)
  return (parent === undefined && labelIn(fields, name)) || inWords(name)
}

/** `maxFollowUpQuestions` as `Max follow up questions`; an index as people count. */
const inWords = (name: string): string => {
  if (/^\d+$/.test(name)) return String(Number(name) + 1)
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The names in a JSON Pointer (RFC 6901) such as `/steps/2/title`. */
const namesIn = (pointer: string | undefined): string[] | undefined =>
  pointer
    ?.split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The step that a path leads to, or whose translation it leads to. */
const stepAt = (path: readonly string[] | undefined, steps: readonly Step[]): Step | undefined => {
  if (path?.[0] === 'steps') return steps[Number(path[1])]
  return path?.[0] === 'i18n' ? steps.find(({ key }) => key === path[4]) : undefined
}
