import { type Client, type Form, FormsApiError, type TaggedForm } from '@fms/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FormEdit } from './form-edit.ts'
import type { OwnEdits } from './own-edits.ts'

const path = 'organizations/o/forms/f'
const stateOf = (version: number, fields: object): TaggedForm => ({
  form: { path, ...fields } as Form,
  etag: `"${version}"`,
})

const formMoved = () => {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'FORM_MOVED' }
  const body = { error: { code: 412, status: 'FAILED_PRECONDITION', message: '', details: [info] } }
  return new FormsApiError(new Response(null, { status: 412 }), JSON.stringify(body))
}

/** A form that others change, too, and the edits of a browser. */
const given = (fields: object = { name: 'A', tone: '' }) => {
  let current = stateOf(1, fields)
  const refuseOthers = (ifMatch: string | undefined) => {
    if (ifMatch !== undefined && ifMatch !== current.etag) throw formMoved()
  }
  const forms = {
    get: async () => current,
    update: async (_organization: string, _form: string, patch: object, options: { ifMatch?: string }) => {
      refuseOthers(options.ifMatch)
      if (options.ifMatch) current = stateOf(2, { ...current.form, ...patch })
      return current
    },
    delete: async (_organization: string, _form: string, options: { ifMatch?: string }) =>
      refuseOthers(options.ifMatch),
  }
  const stored: { text?: string; flush?: () => void } = {}
  const edits = {
    take: () => undefined,
    write: (_form: string, { text }: { text: string }) => {
      stored.text = text
      return true
    },
    remove: () => {
      delete stored.text
    },
    onUse: (flush: () => void) => {
      stored.flush = flush
      return () => {}
    },
  } as unknown as OwnEdits
  const edit = new FormEdit({ forms } as unknown as Client, edits, current, true, new Set())
  return {
    edit,
    stored,
    /** Somebody else saves. */
    others: (changes: object) => {
      current = stateOf(9, { ...current.form, ...changes })
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('an edit of a form that somebody else has saved meanwhile', () => {
  it('ends in a conflict, and is discarded for their state', async () => {
    const { edit, others } = given()
    edit.change({ name: 'Mine' })
    others({ tone: 'calm' })
    await edit.save()
    expect(edit.conflict.value?.theirs.form.tone).toBe('calm')
    edit.conflict.value = undefined
    expect(edit.fields.value).toEqual({ name: 'Mine', tone: '' })

    edit.discard()
    expect(edit.fields.value).toEqual({ name: 'A', tone: 'calm' })
    expect(edit.isDirty.value).toBe(false)
    edit.change({ name: 'Mine' })
    await edit.save()
    expect([edit.conflict.value, edit.fields.value]).toEqual([undefined, { name: 'Mine', tone: 'calm' }])
  })

  it('is replaced with the last saved state when it is discarded', async () => {
    const { edit } = given()
    edit.change({ name: 'Mine' })
    await edit.save()
    edit.change({ name: 'Later' })
    edit.discard()

    expect(edit.fields.value).toEqual({ name: 'Mine', tone: '' })
  })

  it('keeps the form from being deleted until it is read again', async () => {
    const { edit, others } = given()
    others({ tone: 'calm' })
    await expect(edit.delete()).rejects.toMatchObject({ reason: 'FORM_MOVED' })

    await edit.readAgain()
    expect([edit.conflict.value, edit.fields.value]).toEqual([undefined, { name: 'A', tone: 'calm' }])
    await edit.delete()
  })

  it('is saved if their state has it, such as after a save whose response was lost', async () => {
    const { edit, others } = given()
    edit.change({ name: 'Mine' })
    others({ name: 'Mine', tone: 'calm' })
    await edit.save()

    expect([edit.conflict.value, edit.isDirty.value]).toEqual([undefined, false])
    expect(edit.fields.value).toEqual({ name: 'Mine', tone: 'calm' })
  })

  it('that is no JSON yet stays, with a conflict', async () => {
    const { edit, others } = given()
    edit.changeText('{"name": "A", "tone": ')
    others({ tone: 'calm' })
    await edit.readAgain()

    expect([edit.conflict.value, edit.text.value]).toEqual([expect.anything(), '{"name": "A", "tone": '])
  })

  it('ends in a conflict when the form is read again before a deletion', async () => {
    const { edit, others } = given()
    edit.change({ name: 'Mine' })
    others({ tone: 'calm' })
    await edit.readAgain()

    expect(edit.conflict.value?.theirs.form.tone).toBe('calm')
    expect(edit.fields.value).toEqual({ name: 'Mine', tone: '' })
  })
})

describe('an edit of a large form', () => {
  it('is stored before edits are counted, and not again when it ends', () => {
    const { edit, stored } = given({ name: 'A', description: 'x'.repeat(60_000) })
    edit.change({ name: 'Mine' })
    expect(stored.text).toBeUndefined()
    stored.flush!()
    expect(stored.text).toContain('Mine')

    delete stored.text
    edit.dispose()
    expect(stored.text).toBeUndefined()
  })

  it('is stored when it ends right after a keystroke', () => {
    const { edit, stored } = given({ name: 'A', description: 'x'.repeat(60_000) })
    edit.change({ name: 'Mine' })
    edit.dispose()

    expect(stored.text).toContain('Mine')
  })
})
