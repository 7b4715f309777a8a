import { type StepMember, type StepType, stepTypes } from '@fms/contracts'

type Members = Readonly<Record<string, StepMember>>

const kinds: Record<StepMember['kind'], string> = {
  text: 'text',
  url: '`""` or an http or https URL',
  flag: '`true` or `false`',
  integer: 'whole number',
  number: 'number',
  date: 'text `YYYY-MM-DD`',
  time: 'text `HH:MM`',
  pattern: 'text of at most 1,000 characters',
  currency: 'three capital letters',
  texts: 'list of texts',
  options: 'list',
  background: 'background',
  branches: 'list of [branches](api.md#steps)',
}

const cellOf = ({ kind, minimum, maximum, expected }: StepMember): string => {
  const range = maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`
  return [kinds[kind], ...(minimum === undefined ? [] : [range]), ...(expected ? ['expected'] : [])].join(
    ', ',
  )
}

const rowOf = ([name, member]: [string, StepMember]) => [`\`${name}\``, cellOf(member), member.meaning]

const types = Object.entries<StepType>(stepTypes)
const ofEveryStep: Members = stepTypes.statement.members

export const typeRows = () => [
  ['Type', 'Meaning'],
  ...types.map(([name, { meaning }]) => [`\`${name}\``, meaning]),
]

export const commonMemberRows = () => [
  ['Member', 'Value', 'Meaning'],
  ...Object.entries(ofEveryStep).map(rowOf),
]

/** The members that only some types have. Types with the same member share a row. */
export const memberRows = () => {
  const own = types.flatMap(([type, { members }]) =>
    Object.entries(members)
      .filter(([name]) => !(name in ofEveryStep) && name !== 'required')
      .map((member) => ({ type: `\`${type}\``, cells: rowOf(member) })),
  )
  const rows = Map.groupBy(own, ({ cells }) => cells.join()).values()
  return [
    ['Member', 'Of', 'Value', 'Meaning'],
    ...rows.map((same) => {
      const [name, ...rest] = same[0]!.cells
      return [name!, same.map(({ type }) => type).join(', '), ...rest]
    }),
  ]
}
