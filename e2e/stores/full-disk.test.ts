import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, type ApiResponse, publishable, type System, startSystem } from '../system.ts'

const mebibyte = 1024 ** 2

const disk = mkdtempSync(join(tmpdir(), 'full-disk-'))

/** Needs the right to mount. */
const isMounted = (() => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

afterAll(() => {
  if (isMounted) execFileSync('umount', [disk])
  rmSync(disk, { recursive: true })
})

describe.runIf(isMounted)('a full disk under the forms store', () => {
  let system: System
  let account: Account

  beforeAll(async () => {
    const env = { FORMS_STORE_URL: `sqlite:${join(disk, 'forms.db')}`, DELETED_FORMS_DAYS: '30' }
    system = await startSystem({ env })
    account = await system.account({ role: 'owner' })
  })
  afterAll(() => system[Symbol.asyncDispose]())

  const ballast = join(disk, 'ballast')

  /** Leaves 60 MiB: less than the reserve of the store. */
  const fill = () => {
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - 60 * mebibyte))
  }

  const create = () => system.call(account, 'POST', account.forms, { form: publishable() })
  /** A form, as soon as the service has noticed that there is room. */
  const given = async (): Promise<string> => {
    const { status, body } = await create()
    return status === 200 ? `${account.forms}/${body.publicId}` : given()
  }
  const publish = (form: string) => system.call(account, 'POST', `${form}/publish`)
  const reasonOf = ({ status, body }: ApiResponse) => ({ status, reason: body.error?.details[0].reason })
  const full = { status: 503, reason: 'STORAGE_FULL' }

  /** Creates forms until the signal, one after another. @returns the paths of those that were acknowledged. */
  const createMany = async (signal: AbortSignal) => {
    const created: string[] = []
    while (!signal.aborted) {
      const response = await create()
      if (response.status === 200) created.push(`${account.forms}/${response.body.publicId}`)
      else expect(reasonOf(response)).toEqual(full)
    }
    return created
  }

  it('refuses growth at once, lets deletes free room, and loses nothing when it fills and empties', async () => {
    const form = await given()
    const stop = new AbortController()
    const creating = Promise.all([1, 2, 3, 4].map(() => createMany(stop.signal)))
    for (let round = 1; round <= 3; round++) {
      const deleted = await given()
      fill()
      await expect.poll(async () => reasonOf(await create())).toEqual(full)

      // A publisher that repeated the work until the deadline would cause a 504.
      let refused = await publish(form)
      while (refused.status === 200) refused = await publish(form)
      expect(reasonOf(refused)).toEqual(full)
      expect(refused.headers.get('retry-after')).toBe('120')
      expect((await system.call(account, 'GET', form)).status).toBe(200)
      expect((await system.call(account, 'DELETE', deleted)).status).toBe(200)
      const inBin = deleted.replace('/forms/', '/deletedForms/')
      expect(reasonOf(await system.call(account, 'POST', `${inBin}/undelete`))).toEqual(full)
      expect((await system.call(account, 'DELETE', inBin)).status).toBe(200)

      rmSync(ballast)
      await expect.poll(async () => (await publish(form)).status).toBe(200)
    }
    stop.abort()
    const created = (await creating).flat()

    expect(created).not.toEqual([])
    for (const path of created) expect((await system.call(account, 'GET', path)).status).toBe(200)
    const metrics = await (await fetch(`${system.urls.forms}/metrics`)).text()
    expect(metrics).toMatch(/store_errors_total\{[^}]*operation="create"[^}]*reason="STORAGE_FULL"\} [1-9]/)
  })
})
