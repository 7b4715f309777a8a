import { FormDraft } from '@fms/contracts'
import { draftInputArbitrary } from '@fms/contracts/arbitrary'
import fc from 'fast-check'

/** Names that are special in pointers, in paths, or to JavaScript. */
const anyName = fc.constantFrom('label', 'a/b', 'c~d', '~1', 'toString', '', '0', 'options')
const anyScalar = fc.oneof(fc.constantFrom('', 'x', 'y'), fc.integer({ min: 0, max: 3 }), fc.constant(null))
const anyObject = fc.dictionary(anyName, anyScalar, { maxKeys: 3, noNullPrototype: true })

/** Options of the kinds that are matched, with duplicates, and some that are not. */
const anyOptions = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(
      fc.oneof(
        fc.constantFrom('red', 'green', 'blue', 'grey'),
        fc
          .tuple(fc.constantFrom('key', 'id', 'value'), fc.constantFrom('red', 'green', 1, '1'), anyObject)
          .map(([name, id, rest]) => ({ ...rest, [name]: id })),
      ),
      { maxLength: 7 },
    ),
  },
  fc.array(fc.oneof(anyScalar, anyObject), { maxLength: 3 }),
  fc.constantFrom({ red: 1 }, 'red', null),
)

const anyStep = (key: string) =>
  fc
    .record(
      {
        type: fc.constantFrom('choice', 'text', 'end'),
        title: fc.constantFrom('', 'one', 'two'),
        options: anyOptions,
        more: fc.oneof(anyObject, fc.dictionary(anyName, anyObject, { noNullPrototype: true }), anyScalar),
      },
      { requiredKeys: ['type'], noNullPrototype: true },
    )
    .map((step) => ({ key, ...step }))

const anySteps = fc
  .shuffledSubarray(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  .chain((keys) => fc.tuple(...keys.map(anyStep)))

const anyDraft = fc
  .tuple(draftInputArbitrary, anySteps)
  .map(([draft, steps]) => FormDraft.parse({ ...draft, defaultMode: 'guided', steps }))

/** Two drafts whose steps, options and members have much in common. */
export const draftPairArbitrary: fc.Arbitrary<[FormDraft, FormDraft]> = fc
  .tuple(anyDraft, anyDraft, fc.boolean())
  .map(([from, to, isStepsOnly]) => [from, isStepsOnly ? { ...from, steps: to.steps } : to])
