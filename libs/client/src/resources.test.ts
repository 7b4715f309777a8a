import type * as contracts from '@fms/contracts'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type * as client from './index.ts'

/** The type of a merge patch on a draft, derived from the contracts. */
type FormPatch = Clearable<Patch<DraftInput>> & Partial<Pick<contracts.Form, OutputOnly>>
type OutputOnly = (typeof contracts.outputOnlyFields)[number]

/** The input of a map is a map of the inputs of its entries, although its schema accepts any value. */
type DraftInput = Omit<z.input<typeof contracts.FormDraft>, 'i18n'> & { i18n?: Loose<contracts.Form['i18n']> }
type Loose<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? Loose<Item>[]
    : { [K in keyof T]?: Loose<T[K]> }

type Unclearable = (typeof contracts.unclearableFields)[number]
type Clearable<T> = { [K in keyof T]: K extends Unclearable ? Exclude<T[K], null> : T[K] }

/** Arrays are values: a patch neither merges nor clears members in them. */
type Patch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Patch<T[K]> | null }
    : T

/** Steps of the client follow the catalogue, which the contracts only recommend. */
type WithoutSteps<T> = Omit<T, 'steps'>

// These assertions are on types: `npm run check` reports a failure, not the test run.
describe('the types of the client are those of the contracts:', () => {
  it('resources', () => {
    expectTypeOf<WithoutSteps<client.Form>>().toEqualTypeOf<WithoutSteps<contracts.Form>>()
    expectTypeOf<keyof client.ServerOwnedFields>().toEqualTypeOf<OutputOnly>()
    expectTypeOf<client.Revision>().toExtend<contracts.Revision>()
    expectTypeOf<client.Organization>().toEqualTypeOf<contracts.Organization>()
    expectTypeOf<client.FormChanges>().toEqualTypeOf<contracts.FormChanges>()
    expectTypeOf<client.FormCheck>().toEqualTypeOf<contracts.FormCheck>()
    expectTypeOf<client.Key>().toEqualTypeOf<contracts.Key>()
    expectTypeOf<client.IssuedKey>().toEqualTypeOf<contracts.IssuedKey>()
    expectTypeOf<client.Whoami>().toEqualTypeOf<contracts.Whoami>()
    expectTypeOf<client.KeyInput>().toExtend<z.input<typeof contracts.CreateKeyRequest>['key']>()
    expectTypeOf<client.FormEvent>().toEqualTypeOf<contracts.FormEvent>()
    expectTypeOf<client.FormChanges>().toEqualTypeOf<contracts.FormChanges>()
    expectTypeOf<client.DeletedForm>().toEqualTypeOf<contracts.DeletedForm>()
  })

  it('steps', () => {
    type Known = Exclude<client.Step, client.OpenStep>
    expectTypeOf<Known['type']>().toEqualTypeOf<contracts.StepTypeName>()
    expectTypeOf<client.StartStep>().toEqualTypeOf<z.infer<typeof contracts.StartStep>>()
    expectTypeOf<client.StepInput>().toExtend<z.input<typeof contracts.Step>>()
    expectTypeOf<Extract<client.Step, { type: 'choice' }>['options']>().toEqualTypeOf<
      client.StepOption[] | undefined
    >()
  })

  it('errors', () => {
    expectTypeOf<client.ErrorBody>().toExtend<contracts.ErrorBody>()
    expectTypeOf<contracts.ErrorBody>().toExtend<client.ErrorBody>()
    expectTypeOf<client.Status>().toEqualTypeOf<contracts.Status>()
    expectTypeOf<client.FieldViolation>().toEqualTypeOf<contracts.FieldViolation>()
    expectTypeOf<client.PreconditionViolation>().toEqualTypeOf<contracts.PreconditionViolation>()
  })

  it('patches', () => {
    const toContract = (patch: client.FormPatch): FormPatch => patch
    const toClient = (patch: WithoutSteps<FormPatch>): client.FormPatch => patch
    expect(toClient(toContract({}))).toEqual({})
    expectTypeOf<keyof client.FormPatch>().toEqualTypeOf<keyof contracts.Form>()
    expectTypeOf<client.Form>().toExtend<client.FormPatch>()
  })
})
