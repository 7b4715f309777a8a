import { type Client, type FieldViolation, type Form, FormsApiError, type TaggedForm } from '@fms/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FormEdit } from './form-edit.ts'
import type { OtherTabs } from './other-tabs.ts'
import type { StoredEdit, StoredEdits } from './stored-edits.ts'

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

const invalid = (...fieldViolations: FieldViolation[]) => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }]
  const body = { error: { code: 400, status: 'INVALID_ARGUMENT', message: '', details } }
  return new FormsApiError(new Response(null, { status: 400 }), JSON.stringify(body))
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
    check: async (_organization: string, form: { tone?: string }) => {
      const field = 'form.tone'
      if (form.tone === 'loud') throw invalid({ field, description: 'must be calm' })
      return { warnings: form.tone === '' ? [{ field, reason: 'TONE_MISSING', message: 'is missing' }] : [] }
    },
    delete: async (_organization: string, _form: string, options: { ifMatch?: string }) =>
      refuseOthers(options.ifMatch),
  }
  const stored: { edit?: StoredEdit } = {}
  const edits = {
    read: () => stored.edit,
    write: (_form: string, edit: StoredEdit) => {
      stored.edit = edit
      return true
    },
    remove: () => {
      delete stored.edit
    },
  } as unknown as StoredEdits
  const savedElsewhere = new Set<string>()
  const otherTabs = {
    haveSaved: (etag: string) => savedElsewhere.has(etag),
    saved: () => {},
    close: () => {},
  } as unknown as OtherTabs
  const open = () => new FormEdit({ forms } as unknown as Client, edits, otherTabs, current, true)
  return {
    edit: open(),
    open,
    stored,
    /** Somebody else saves, or the user in another tab. */
    others: (changes: object, { isOwn = false } = {}) => {
      current = stateOf(9, { ...current.form, ...changes })
      if (isOwn) savedElsewhere.add(current.etag)
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

describe('an unsaved edit', () => {
  it('is kept, and is there again when the form is opened next', () => {
    const { edit, open } = given()
    edit.change({ name: 'Mine' })
    edit.dispose()
    const later = open()

    expect([later.fields.value.name, later.beginning.value]).toEqual(['Mine', 'restored'])
    later.discard()
    later.dispose()
    expect(open().fields.value.name).toBe('A')
  })

  it('says when the form has changed since', () => {
    const { edit, open, others } = given()
    edit.changeText('{"name": "Mine", ')
    others({ tone: 'calm' })
    const later = open()

    expect([later.text.value, later.beginning.value]).toEqual(['{"name": "Mine", ', 'restored-and-moved'])
  })

  it('is there again when the editor is left, although another tab has saved', () => {
    const { edit, stored } = given()
    edit.change({ name: 'Mine' })
    delete stored.edit
    edit.keep()

    expect(stored.edit).toMatchObject({ fields: { name: 'Mine' } })
    edit.discard()
    delete stored.edit
    edit.keep()
    expect(stored).toEqual({})
  })

  it('outlasts the form, which can be brought back', async () => {
    const { edit, stored } = given()
    edit.change({ name: 'Mine' })
    await edit.delete()

    expect(stored.edit?.fields).toMatchObject({ name: 'Mine' })
  })

  it('is not stored again when it ends: signing out has deleted it', () => {
    const { edit, stored } = given()
    edit.change({ name: 'Mine' })
    expect(stored.edit?.fields.name).toBe('Mine')
    delete stored.edit
    edit.dispose()

    expect(stored.edit).toBeUndefined()
  })

  it('tells another tab of the user from somebody else', async () => {
    const { edit, others } = given()
    edit.change({ name: 'Mine' })
    others({ tone: 'calm' }, { isOwn: true })
    await edit.save()

    expect(edit.conflict.value?.isOwn).toBe(true)
  })
})

describe('undo', () => {
  it('takes back what was typed without a pause at once, and each other change alone', () => {
    const { edit } = given({ name: 'A', steps: [{ key: 'q', title: '' }] })
    const title = (title: string) => edit.change({ steps: [{ key: 'q', title }] })
    for (const text of ['W', 'Wh', 'Why']) title(text)
    vi.advanceTimersByTime(1_000)
    title('Why?')
    edit.change({ steps: [] })
    const seen = [edit.fields.value.steps]
    while (edit.history.canUndo.value) {
      edit.history.undo()
      seen.push(edit.fields.value.steps)
    }
    expect(seen).toEqual([
      [],
      [{ key: 'q', title: 'Why?' }],
      [{ key: 'q', title: 'Why' }],
      [{ key: 'q', title: '' }],
    ])

    while (edit.history.canRedo.value) edit.history.redo()
    expect(edit.fields.value.steps).toEqual([])
  })

  it('brings back 100 steps, and no more', () => {
    const { edit } = given()
    for (let number = 0; number < 120; number++) edit.change({ steps: Array(number).fill({}) })
    for (let number = 0; number < 200; number++) edit.history.undo()

    expect(edit.fields.value.steps).toHaveLength(19)
  })

  it('brings back what Discard dropped, and text that is no JSON', () => {
    const { edit } = given()
    edit.changeText('{"name": "Mine"')
    edit.discard()
    expect([edit.isDirty.value, edit.isValid.value]).toEqual([false, true])
    edit.history.undo()

    expect([edit.text.value, edit.isValid.value]).toEqual(['{"name": "Mine"', false])
  })

  it('goes behind a save, after which the former state is saved', async () => {
    const { edit } = given()
    edit.change({ name: 'Mine' })
    await edit.save()
    edit.history.undo()
    expect([edit.fields.value.name, edit.isDirty.value]).toEqual(['A', true])
    await edit.save()

    expect([edit.conflict.value, edit.fields.value.name]).toEqual([undefined, 'A'])
  })

  it('past a merge shows no saved state, and a save brings back the newest', async () => {
    const { edit, others } = given()
    edit.change({ name: 'Mine' })
    others({ tone: 'calm' })
    await edit.save()
    edit.resolve({ name: 'Mine', tone: 'calm' })
    await edit.save()
    for (let times = 0; times < 2; times++) edit.history.undo()
    expect([edit.fields.value, edit.isDirty.value]).toEqual([{ name: 'A', tone: '' }, true])
    await edit.save()

    expect([edit.fields.value, edit.isDirty.value]).toEqual([{ name: 'Mine', tone: 'calm' }, false])
  })

  it('behind a resolved conflict ends in the same conflict again', async () => {
    const { edit, others } = given()
    edit.change({ name: 'Mine' })
    others({ name: 'Theirs' })
    await edit.save()
    edit.resolve({ name: 'Theirs', tone: '' })
    edit.history.undo()
    expect(edit.fields.value.name).toBe('Mine')
    await edit.save()

    expect(edit.conflict.value?.theirs.form.name).toBe('Theirs')
  })
})

describe('the remarks about an edit', () => {
  it('are those of a check at its beginning, and after each pause in the typing', async () => {
    const { edit } = given()
    const remark = (description: string) => ({ field: 'form.tone', description })
    await vi.runAllTimersAsync()
    expect(edit.remarks.value).toEqual({ violations: [], warnings: [remark('is missing')] })

    edit.change({ tone: 'loud' })
    edit.change({ name: 'B' })
    await vi.runAllTimersAsync()
    expect(edit.remarks.value).toEqual({
      violations: [remark('must be calm')],
      warnings: [remark('is missing')],
    })

    edit.change({ tone: 'calm' })
    await vi.runAllTimersAsync()
    expect(edit.remarks.value).toEqual({ violations: [], warnings: [] })
    edit.dispose()
  })
})
