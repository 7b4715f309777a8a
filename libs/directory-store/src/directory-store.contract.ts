import { randomUUID } from 'node:crypto'
import { type CheckedFilter, evaluateFilter } from '@fms/aip'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { API_KEY_PATTERN, hashApiKey, makeApiKey } from './api-key.ts'
import { DirectoryRecord } from './directory-record.ts'
import type { DirectoryStore, ListOrganizationsQuery, StoredOrganization } from './directory-store.ts'
import type { NewOrganization } from './new.ts'
import type { OrganizationOrderTerm } from './organization-order.ts'

const start = Date.parse('2026-11-20T09:30:00.000Z')
/** Where an engine for tests falls short. The suite says so by the names of the cases that it skips. */
export interface EngineLimits {
  /** It compares texts by UTF-16 unit: what is beyond the basic plane comes before U+E000 to U+FFFF. */
  comparesUtf16?: boolean
}

/** Letters and what means something to some store: wildcards, escapes, quotes, NUL, the ends of the planes. */
const hostileLetters = 'aAbé%_*?[]\\\'"$.^ \0\n\ud7ff\u{1f600}\u{10ffff}'
/** These come before others by code point, and behind them by UTF-16 unit. */
const hostileTextOf = ({ comparesUtf16 }: EngineLimits) =>
  fc.string({
    unit: fc.constantFrom(...hostileLetters, ...(comparesUtf16 ? '' : '\ue000\uff5e')),
    maxLength: 4,
  })

/** Any filter on organizations that were made from `start` on. */
const organizationFilter = (hostileText: fc.Arbitrary<string>) =>
  fc.letrec<{ filter: CheckedFilter }>((tie) => {
    const field = fc.constantFrom('name', 'slug')
    const operator = fc.constantFrom('=' as const, '<' as const, '<=' as const, '>' as const, '>=' as const)
    const operands = fc.array(tie('filter'), { minLength: 1, maxLength: 3 })
    return {
      filter: fc.oneof(
        { maxDepth: 3 },
        fc.record({ kind: fc.constant('compare' as const), field, operator, value: hostileText }),
        fc.record({
          kind: fc.constant('match' as const),
          field,
          parts: fc.array(hostileText, { minLength: 2, maxLength: 4 }),
        }),
        fc.record({
          kind: fc.constant('contains' as const),
          field,
          text: hostileText.filter((text) => text !== ''),
        }),
        fc.record({
          kind: fc.constant('compareTime' as const),
          field: fc.constant('createTime'),
          operator,
          epochMs: fc.integer({ min: start - 1, max: start + 5 }),
        }),
        fc.record({ kind: fc.constant('constant' as const), value: fc.boolean() }),
        fc.record({ kind: fc.constant('not' as const), operand: tie('filter') }),
        fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), operands }),
      ),
    }
  }).filter

const lowerCaseUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * What every directory store promises.
 *
 * @param open an empty store whose createTimes come from `now`.
 */
export const directoryStoreContract = (
  name: string,
  open: (now: () => Date) => Promise<DirectoryStore>,
  limits: EngineLimits = {},
): void => {
  const hostileText = hostileTextOf(limits)
  describe(`the directory store on ${name}`, () => {
    let store: DirectoryStore
    let time: number

    beforeEach(async () => {
      time = start
      store = await open(() => new Date(time))
    })

    afterEach(() => store.close())

    const givenUser = (email = `${randomUUID()}@example.com`) => store.createUser({ email })

    const givenOrganization = (fields: Partial<NewOrganization> = {}) =>
      store.createOrganization({ name: 'Acme', slug: `o-${randomUUID()}`, ...fields })

    const givenMember = async (role: 'viewer' | 'editor' | 'owner' = 'editor') => {
      const [{ userId }, organization] = [await givenUser(), await givenOrganization()]
      await store.addMember({ organizationId: organization.organizationId, userId, role })
      return { userId, organization, organizationId: organization.organizationId }
    }

    describe('createUser', () => {
      it('gives a user an id and a time, and can find it by id and by e-mail address in any letter case', async () => {
        const user = await store.createUser({ email: 'Ada@Example.com' })

        expect(user).toEqual({
          userId: expect.stringMatching(lowerCaseUuid),
          email: 'ada@example.com',
          createTime: new Date(start),
        })
        expect(await store.findUser(user.userId.toUpperCase())).toEqual(user)
        expect(await store.findUser('ADA@example.com')).toEqual(user)
      })

      it('refuses an e-mail address that is taken, letter case ignored', async () => {
        await givenUser('ada@example.com')

        await expect(givenUser('ADA@example.com')).rejects.toMatchObject({
          status: 'ALREADY_EXISTS',
          reason: 'EMAIL_TAKEN',
          parts: { metadata: { email: 'ada@example.com' } },
        })
      })

      it('lets one of two at once have the e-mail address', async () => {
        const outcomes = await Promise.allSettled([givenUser('a@example.com'), givenUser('a@example.com')])

        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      })

      it.each(['', 'ada', 'ada@', '@example.com', 'a b@example.com'])(
        'refuses the address "%s"',
        async (email) => {
          await expect(givenUser(email)).rejects.toMatchObject({
            status: 'INVALID_ARGUMENT',
            parts: { fieldViolations: [{ field: 'email' }] },
          })
        },
      )
    })

    describe('createOrganization', () => {
      it('gives an organization an id and a time, and can find it by id in any letter case and by slug', async () => {
        const organization = await givenOrganization({ name: 'Acme', slug: 'acme' })

        expect(organization).toEqual({
          organizationId: expect.stringMatching(lowerCaseUuid),
          slug: 'acme',
          name: 'Acme',
          logo: null,
          metadata: null,
          createTime: new Date(start),
        })
        expect(await store.findOrganization(organization.organizationId.toUpperCase())).toEqual(organization)
        expect(await store.findOrganization('acme')).toEqual(organization)
      })

      it.each([
        [{ plan: 'pro', seats: [1, 2.5, { nested: null }] }],
        ['text'],
        [''],
        [0],
        [false],
        [[]],
        [{}],
        [null],
      ])('keeps the metadata %j as it came', async (metadata) => {
        const { organizationId } = await givenOrganization({ metadata })

        expect((await store.findOrganization(organizationId))?.metadata).toEqual(metadata)
      })

      it('keeps names and logos as they came', async () => {
        const fields = { name: ' \0é\u{1f600} ', logo: 'https://example.com/logo.svg?a=%20#b' }
        const { organizationId } = await givenOrganization(fields)

        expect(await store.findOrganization(organizationId)).toMatchObject(fields)
      })

      it('refuses a slug that is taken', async () => {
        await givenOrganization({ slug: 'acme' })

        await expect(givenOrganization({ slug: 'acme' })).rejects.toMatchObject({
          status: 'ALREADY_EXISTS',
          reason: 'SLUG_TAKEN',
          parts: { metadata: { slug: 'acme' } },
        })
      })

      it('counts code points: 80 characters outside the basic plane are a name, 81 are not', async () => {
        await givenOrganization({ name: '\u{1f600}'.repeat(80) })

        await expect(givenOrganization({ name: '\u{1f600}'.repeat(81) })).rejects.toMatchObject({
          parts: { fieldViolations: [{ field: 'name' }] },
        })
      })

      it.each([
        'ab',
        'a'.repeat(49),
        'Acme',
        'a--b',
        '-ab',
        'ab-',
        'a_b',
        'new',
        'settings',
        'checkout',
        'forms',
        'oauth',
        'acme\n',
        '00000000-0000-0000-0000-000000000000',
      ])('refuses the slug %j', async (slug) => {
        await expect(givenOrganization({ slug })).rejects.toMatchObject({
          status: 'INVALID_ARGUMENT',
          parts: { fieldViolations: expect.arrayContaining([expect.objectContaining({ field: 'slug' })]) },
        })
      })

      it('names everything that is wrong at once', async () => {
        const wrong = store.createOrganization({ name: '', slug: 'acme', logo: 'logo.png' })

        await expect(wrong).rejects.toMatchObject({
          reason: 'INVALID_REQUEST',
          parts: { fieldViolations: [{ field: 'name' }, { field: 'logo' }] },
        })
      })
    })

    describe('findUser and findOrganization', () => {
      it.each(['', '-', 'no such thing', '%', "'; --", 'a\0b', 'x'.repeat(10_000), randomUUID()])(
        'find nothing for the reference %j',
        async (ref) => {
          await givenMember()

          expect(await store.findUser(ref)).toBeUndefined()
          expect(await store.findOrganization(ref)).toBeUndefined()
        },
      )
    })

    describe('members', () => {
      it('are added with a role', async () => {
        const [{ userId }, { organizationId }] = [await givenUser(), await givenOrganization()]

        expect(await store.addMember({ organizationId, userId, role: 'owner' })).toEqual({
          organizationId,
          userId,
          role: 'owner',
          createTime: new Date(start),
        })
      })

      it('are added once', async () => {
        const { organizationId, userId } = await givenMember()

        await expect(store.addMember({ organizationId, userId, role: 'owner' })).rejects.toMatchObject({
          status: 'ALREADY_EXISTS',
          reason: 'MEMBER_EXISTS',
          parts: { metadata: { organizationId, userId } },
        })
      })

      it('need a user and an organization that exist', async () => {
        const { organizationId, userId } = await givenMember()
        const nobody = randomUUID()

        await expect(
          store.addMember({ organizationId, userId: nobody, role: 'editor' }),
        ).rejects.toMatchObject({ status: 'NOT_FOUND', reason: 'USER_NOT_FOUND' })
        await expect(
          store.addMember({ organizationId: nobody, userId, role: 'editor' }),
        ).rejects.toMatchObject({ status: 'NOT_FOUND', reason: 'ORGANIZATION_NOT_FOUND' })
      })

      it('take another role and keep their time', async () => {
        const { organizationId, userId } = await givenMember('editor')
        time += 1000

        expect(await store.setMember({ organizationId, userId, role: 'viewer' })).toEqual({
          organizationId,
          userId,
          role: 'viewer',
          createTime: new Date(start),
        })
      })

      it('are no more once they are removed, and may come back', async () => {
        const { organization, organizationId, userId } = await givenMember()

        await store.removeMember({ organizationId, userId })

        expect(await store.getOrganization(userId, organizationId)).toBeUndefined()
        expect(await store.listMemberships(userId)).toEqual([])
        await store.addMember({ organizationId, userId, role: 'viewer' })
        expect(await store.getOrganization(userId, organizationId)).toEqual(organization)
      })

      it('cannot be changed or removed where there are none', async () => {
        const { organizationId } = await givenMember()
        const stranger = { organizationId, userId: (await givenUser()).userId }
        const refusal = { status: 'NOT_FOUND', reason: 'MEMBER_NOT_FOUND', parts: { metadata: stranger } }

        await expect(store.setMember({ ...stranger, role: 'owner' })).rejects.toMatchObject(refusal)
        await expect(store.removeMember(stranger)).rejects.toMatchObject(refusal)
      })
    })

    describe('the lists for operators', () => {
      it('have every user and organization, oldest first', async () => {
        const [ada, acme] = [await givenUser(), await givenOrganization()]
        time += 1
        const grace = await store.createUser({ email: 'a-grace@example.com' })
        const other = await store.createOrganization({
          name: 'A',
          slug: 'a-other',
          metadata: { plan: 'pro' },
        })

        expect(await store.listUsers()).toEqual([ada, grace])
        expect(await store.listAllOrganizations()).toEqual([acme, other])
      })

      it("have an organization's members with their addresses, in the order in which they came", async () => {
        const [ada, acme] = [await givenUser(), await givenOrganization()]
        const grace = await store.createUser({ email: 'a-grace@example.com' })
        const other = await store.createOrganization({ name: 'Other', slug: 'other' })
        const { organizationId } = acme
        const first = await store.addMember({ organizationId, userId: ada.userId, role: 'owner' })
        time += 5
        const second = await store.addMember({ organizationId, userId: grace.userId, role: 'viewer' })
        await store.addMember({ organizationId: other.organizationId, userId: ada.userId, role: 'editor' })

        expect(await store.listMembers(organizationId.toUpperCase())).toEqual([
          { ...first, email: ada.email },
          { ...second, email: grace.email },
        ])
      })

      it('are empty where there is nothing', async () => {
        expect(await store.listUsers()).toEqual([])
        expect(await store.listAllOrganizations()).toEqual([])
        expect(await store.listMembers(randomUUID())).toEqual([])
        expect(await store.listMembers('nonsense')).toEqual([])
      })
    })

    describe('createKey', () => {
      it('answers the text of a new key, which is stored nowhere', async () => {
        const { userId } = await givenUser()

        const { key, apiKey } = await store.createKey({ userId })

        expect(key).toMatch(API_KEY_PATTERN)
        expect(apiKey).toEqual({
          keyId: expect.stringMatching(lowerCaseUuid),
          prefix: key.slice(4, 12),
          userId,
          name: '',
          readOnly: false,
          createTime: new Date(start),
        })
        expect(JSON.stringify(await store.listKeys())).not.toContain(key)
      })

      it('keeps name, expiry and whether it only reads', async () => {
        const { userId } = await givenUser()
        const fields = { userId, name: 'CI', readOnly: true, expireTime: new Date(start + 1) }

        expect((await store.createKey(fields)).apiKey).toMatchObject(fields)
        expect(await store.listKeys()).toMatchObject([fields])
      })

      it('takes a text that was agreed beforehand, once', async () => {
        const { userId } = await givenUser()
        const key = makeApiKey()
        const { apiKey } = await store.createKey({ userId, key })

        expect(await store.authorize({ keyHash: hashApiKey(key) }, new Date(start))).toEqual({ key: apiKey })
        await expect(store.createKey({ userId, key })).rejects.toMatchObject({
          status: 'ALREADY_EXISTS',
          reason: 'API_KEY_EXISTS',
          parts: { metadata: { keyId: apiKey.keyId } },
        })
      })

      it('refuses a text that is no key, and a user that does not exist', async () => {
        const { userId } = await givenUser()

        await expect(store.createKey({ userId, key: 'secret' })).rejects.toMatchObject({
          parts: { fieldViolations: [{ field: 'key' }] },
        })
        await expect(store.createKey({ userId: randomUUID() })).rejects.toMatchObject({
          reason: 'USER_NOT_FOUND',
        })
      })
    })

    describe('listKeys', () => {
      it('lists all keys, oldest first', async () => {
        const { userId } = await givenUser()
        const names = ['c', 'a', 'b']
        for (const name of names) {
          await store.createKey({ userId, name })
          time++
        }

        expect((await store.listKeys()).map((key) => key.name)).toEqual(names)
      })
    })

    describe('revokeKey', () => {
      it('ends a key for good, and again changes nothing', async () => {
        const { userId } = await givenUser()
        const { key, apiKey } = await store.createKey({ userId })
        time += 1000
        const revoked = { ...apiKey, revokeTime: new Date(start + 1000) }

        expect(await store.revokeKey(apiKey.keyId.toUpperCase())).toEqual(revoked)
        time += 1000
        expect(await store.revokeKey(apiKey.keyId)).toEqual(revoked)

        expect(await store.listKeys()).toEqual([revoked])
        expect(await store.authorize({ keyHash: hashApiKey(key) }, new Date(0))).toBeUndefined()
      })

      it.each([randomUUID(), 'nonsense', ''])('finds no key "%s"', async (keyId) => {
        await expect(store.revokeKey(keyId)).rejects.toMatchObject({
          status: 'NOT_FOUND',
          reason: 'API_KEY_NOT_FOUND',
          parts: { metadata: { keyId } },
        })
      })
    })

    describe('expireKey', () => {
      const inAnHour = new Date(start + 3_600_000)

      it('lets a key in until the given time, and not from then on', async () => {
        const { userId } = await givenUser()
        const { key, apiKey } = await store.createKey({ userId, name: 'CI', readOnly: true })

        const expiring = { ...apiKey, expireTime: inAnHour }
        expect(await store.expireKey(apiKey.keyId.toUpperCase(), inAnHour)).toEqual(expiring)

        expect(await store.listKeys()).toEqual([expiring])
        const authorize = (time: number) => store.authorize({ keyHash: hashApiKey(key) }, new Date(time))
        expect(await authorize(inAnHour.getTime() - 1)).toBeDefined()
        expect(await authorize(inAnHour.getTime())).toBeUndefined()
      })

      it('brings an end forward, and never puts one off', async () => {
        const { userId } = await givenUser()
        const { keyId } = (await store.createKey({ userId, expireTime: inAnHour })).apiKey

        const later = await store.expireKey(keyId, new Date(inAnHour.getTime() + 1))
        const earlier = await store.expireKey(keyId, new Date(inAnHour.getTime() - 1))

        expect(later.expireTime).toEqual(inAnHour)
        expect(earlier.expireTime).toEqual(new Date(inAnHour.getTime() - 1))
      })

      it('leaves a revoked key as it is', async () => {
        const { userId } = await givenUser()
        const { keyId } = (await store.createKey({ userId })).apiKey
        const revoked = await store.revokeKey(keyId)

        expect(await store.expireKey(keyId, inAnHour)).toEqual(revoked)
      })

      it.each([randomUUID(), 'nonsense', ''])('finds no key "%s"', async (keyId) => {
        await expect(store.expireKey(keyId, inAnHour)).rejects.toMatchObject({
          reason: 'API_KEY_NOT_FOUND',
          parts: { metadata: { keyId } },
        })
      })
    })

    describe('touchKey', () => {
      it('notes when a key was last in use, and never moves back', async () => {
        const { userId } = await givenUser()
        const { keyId } = (await store.createKey({ userId })).apiKey

        await store.touchKey(keyId, new Date(start + 2000))
        await store.touchKey(keyId, new Date(start + 1000))

        expect(await store.listKeys()).toMatchObject([{ lastUsedTime: new Date(start + 2000) }])
      })

      it('does not mind an unknown key', async () => {
        await store.touchKey(randomUUID(), new Date(start))
      })
    })

    describe('authorize', () => {
      const now = new Date(start)

      it.each(['viewer', 'editor', 'owner'] as const)(
        'tells whose key it is and that they are %s',
        async (role) => {
          const { organization, organizationId, userId } = await givenMember(role)
          const { key, apiKey } = await store.createKey({ userId, readOnly: true })
          const keyHash = hashApiKey(key)
          const expected = { key: apiKey, organization: { organizationId, role } }

          for (const organizationRef of [organizationId, organizationId.toUpperCase(), organization.slug]) {
            expect(await store.authorize({ keyHash, organizationRef }, now)).toEqual(expected)
          }
          expect(await store.authorize({ keyHash }, now)).toEqual({ key: apiKey })
        },
      )

      it('does not tell a missing organization from a foreign one', async () => {
        const foreign = await givenMember()
        const { userId } = await givenMember()
        const { key, apiKey } = await store.createKey({ userId })

        const refs = [foreign.organizationId, foreign.organization.slug, randomUUID(), 'missing', '', '%']
        for (const organizationRef of refs) {
          expect(await store.authorize({ keyHash: hashApiKey(key), organizationRef }, now)).toEqual({
            key: apiKey,
          })
        }
      })

      it('knows nothing of unknown keys', async () => {
        const { organizationId: organizationRef } = await givenMember()

        expect(
          await store.authorize({ keyHash: hashApiKey(makeApiKey()), organizationRef }, now),
        ).toBeUndefined()
        expect(await store.authorize({ keyHash: '' }, now)).toBeUndefined()
      })

      it('lets a key in until the instant of its expireTime', async () => {
        const { userId } = await givenUser()
        const { key } = await store.createKey({ userId, expireTime: new Date(start + 1000) })
        const at = (ms: number) => store.authorize({ keyHash: hashApiKey(key) }, new Date(start + ms))

        expect(await at(999)).toBeDefined()
        expect(await at(1000)).toBeUndefined()
      })

      it('sees a role at once when it changes', async () => {
        const { organizationId, userId } = await givenMember('editor')
        const keyHash = hashApiKey((await store.createKey({ userId })).key)
        const ask = () => store.authorize({ keyHash, organizationRef: organizationId }, now)

        await store.setMember({ organizationId, userId, role: 'viewer' })
        expect(await ask()).toMatchObject({ organization: { role: 'viewer' } })
        await store.removeMember({ organizationId, userId })
        expect(await ask()).not.toHaveProperty('organization')
      })
    })

    describe('getOrganization', () => {
      it('answers members, by id in any letter case and by slug', async () => {
        const { organization, organizationId, userId } = await givenMember('viewer')

        for (const ref of [organizationId, organizationId.toUpperCase(), organization.slug]) {
          expect(await store.getOrganization(userId, ref)).toEqual(organization)
        }
      })

      it('answers nobody else', async () => {
        const { organization, organizationId } = await givenMember()
        const { userId } = await givenMember()

        for (const ref of [organizationId, organization.slug, 'missing', '']) {
          expect(await store.getOrganization(userId, ref)).toBeUndefined()
        }
      })
    })

    describe('listMemberships', () => {
      it('is in the order in which the memberships began, also within one millisecond', async () => {
        const { userId } = await givenUser()
        const organizations: StoredOrganization[] = []
        for (let count = 0; count < 8; count++) organizations.push(await givenOrganization())
        const joined = organizations.toReversed()

        const times: number[] = []
        for (const { organizationId } of joined) {
          times.push((await store.addMember({ organizationId, userId, role: 'viewer' })).createTime.getTime())
        }

        expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
        expect(await store.listMemberships(userId)).toEqual(joined)
      })

      it('puts a member who left and came back at the end', async () => {
        const { organizationId, organization, userId } = await givenMember()
        const second = await givenOrganization()
        await store.addMember({ organizationId: second.organizationId, userId, role: 'viewer' })

        await store.removeMember({ organizationId, userId })
        await store.addMember({ organizationId, userId, role: 'viewer' })

        expect(await store.listMemberships(userId)).toEqual([second, organization])
      })

      it('is empty for a user without any', async () => {
        expect(await store.listMemberships((await givenUser()).userId)).toEqual([])
      })
    })

    describe('listOrganizations', () => {
      const term = (field: OrganizationOrderTerm['field'], descending = false) => ({ field, descending })

      /** Names by code point: Z, a, U+6F22, U+1F600. */
      const fixtures = [
        { slug: 'bbb', name: 'a', age: 1 },
        { slug: 'aaa', name: 'Z', age: 1 },
        { slug: 'ddd', name: '\u{1f600}', age: 0 },
        { slug: 'ccc', name: 'a', age: 0 },
        { slug: 'eee', name: '漢', age: 2 },
      ]
      let userId: string

      beforeEach(async () => {
        await givenMember()
        userId = (await givenUser()).userId
        for (const { age, ...fields } of fixtures) {
          time = start + age
          const { organizationId } = await givenOrganization(fields)
          await store.addMember({ organizationId, userId, role: 'viewer' })
        }
      })

      const list = async (query: Partial<ListOrganizationsQuery> = {}) => {
        const page = await store.listOrganizations({ userId, orderBy: [], limit: 10, skip: 0, ...query })
        return { ...page, slugs: page.organizations.map(({ slug }) => slug) }
      }

      it('answers the whole organizations, and how many there are', async () => {
        const { organizations, totalSize, next } = await list()

        for (const organization of organizations) {
          expect(organization).toEqual(await store.findOrganization(organization.slug))
        }
        expect({ totalSize, next }).toEqual({ totalSize: 5, next: undefined })
      })

      const orders = [
        { orderBy: [], slugs: ['ccc', 'ddd', 'aaa', 'bbb', 'eee'] },
        { orderBy: [term('createTime')], slugs: ['ccc', 'ddd', 'aaa', 'bbb', 'eee'] },
        { orderBy: [term('createTime', true)], slugs: ['eee', 'aaa', 'bbb', 'ccc', 'ddd'] },
        { orderBy: [term('name')], slugs: ['aaa', 'bbb', 'ccc', 'eee', 'ddd'] },
        { orderBy: [term('name', true)], slugs: ['ddd', 'eee', 'bbb', 'ccc', 'aaa'] },
        { orderBy: [term('slug')], slugs: ['aaa', 'bbb', 'ccc', 'ddd', 'eee'] },
        { orderBy: [term('slug', true)], slugs: ['eee', 'ddd', 'ccc', 'bbb', 'aaa'] },
        { orderBy: [term('name'), term('createTime')], slugs: ['aaa', 'ccc', 'bbb', 'eee', 'ddd'] },
        { orderBy: [term('name', true), term('slug', true)], slugs: ['ddd', 'eee', 'ccc', 'bbb', 'aaa'] },
        {
          orderBy: [term('createTime', true), term('slug', true), term('name')],
          slugs: ['eee', 'bbb', 'aaa', 'ddd', 'ccc'],
        },
      ]

      it.each(orders)(
        'sorts by $orderBy, slug ascending where that leaves a tie',
        async ({ orderBy, slugs }) => {
          expect((await list({ orderBy })).slugs).toEqual(slugs)
        },
      )

      it.each(orders)('pages through $orderBy without a gap or a repeat', async ({ orderBy, slugs }) => {
        const seen: string[] = []
        let page = await list({ orderBy, limit: 2 })
        seen.push(...page.slugs)
        while (page.next) {
          // Page tokens carry positions as JSON.
          page = await list({ orderBy, limit: 2, after: JSON.parse(JSON.stringify(page.next)) })
          expect(page.totalSize).toBe(5)
          seen.push(...page.slugs)
        }

        expect(seen).toEqual(slugs)
      })

      it.skipIf(limits.comparesUtf16)('goes by code point, also beyond the basic plane', async () => {
        const { userId } = await givenUser()
        const names = ['\ud7ff', '\ue000', '\uffff', '\u{10000}']
        for (const name of names.toReversed()) {
          const { organizationId } = await givenOrganization({ name })
          await store.addMember({ organizationId, userId, role: 'viewer' })
        }
        const filter: CheckedFilter = { kind: 'compare', field: 'name', operator: '>', value: '\ue000' }

        const orderBy = [term('name')]
        const found = await list({ userId, orderBy, filter })

        expect((await list({ userId, orderBy })).organizations.map(({ name }) => name)).toEqual(names)
        expect(found.organizations.map(({ name }) => name)).toEqual(names.slice(2))
      })

      it('has no next page when the last item is on this one', async () => {
        expect((await list({ limit: 5 })).next).toBeUndefined()
        expect((await list({ limit: 4 })).next).toBeDefined()
      })

      it('leaves out `skip` items, counted from the position', async () => {
        const orderBy = [term('slug')]
        const { next } = await list({ orderBy, limit: 1 })

        expect((await list({ orderBy, skip: 2 })).slugs).toEqual(['ccc', 'ddd', 'eee'])
        expect((await list({ orderBy, skip: 2, after: next! })).slugs).toEqual(['ddd', 'eee'])
        expect(await list({ orderBy, skip: 2_147_483_647 })).toMatchObject({ slugs: [], totalSize: 5 })
        expect((await list({ orderBy, skip: 5 })).next).toBeUndefined()
      })

      it('goes on where it was when the item at the position is gone', async () => {
        const orderBy = [term('slug')]
        const { next, organizations } = await list({ orderBy, limit: 2 })
        await store.removeMember({ organizationId: organizations[1]!.organizationId, userId })

        expect(await list({ orderBy, after: next! })).toMatchObject({
          slugs: ['ccc', 'ddd', 'eee'],
          totalSize: 4,
        })
      })

      it('narrows to what the filter asks for, pages and total too', async () => {
        const filter: CheckedFilter = { kind: 'compare', field: 'name', operator: '<=', value: 'a' }
        const first = await list({ filter, limit: 2 })

        expect(first).toMatchObject({ slugs: ['ccc', 'aaa'], totalSize: 3 })
        expect(await list({ filter, limit: 2, after: first.next! })).toMatchObject({
          slugs: ['bbb'],
          totalSize: 3,
        })
      })

      it('finds by any filter what evaluating it finds', async () => {
        const names = fc.array(
          hostileText.filter((text) => text !== ''),
          { minLength: 1, maxLength: 5 },
        )
        const property = fc.asyncProperty(names, organizationFilter(hostileText), async (names, filter) => {
          const { userId } = await givenUser()
          const expected: string[] = []
          for (const name of names) {
            time++
            const { organizationId, slug, createTime } = await givenOrganization({ name })
            await store.addMember({ organizationId, userId, role: 'viewer' })
            if (evaluateFilter(filter, { name, slug, createTime: createTime.getTime() })) expected.push(slug)
          }
          time = start

          expect(await list({ userId, filter })).toMatchObject({
            slugs: expected,
            totalSize: expected.length,
          })
        })
        await fc.assert(property, { numRuns: 300 })
      })

      it('is empty for a user without any', async () => {
        expect(await list({ userId: (await givenUser()).userId })).toEqual({
          organizations: [],
          slugs: [],
          totalSize: 0,
        })
      })
    })

    describe('records', () => {
      const exported = (from: DirectoryStore) => Array.fromAsync(from.exportRecords())

      const givenAll = async () => {
        const [ada, grace] = [await givenUser(), await givenUser()]
        const plain = await givenOrganization()
        const full = await givenOrganization({
          logo: 'https://acme.example/logo.png',
          metadata: { plan: ['pro', -5], 'a.b': { $set: null } },
        })
        for (const { organizationId } of [plain, full]) {
          await store.addMember({ organizationId, userId: ada.userId, role: 'owner' })
        }
        await store.addMember({ organizationId: full.organizationId, userId: grace.userId, role: 'viewer' })
        const { key, apiKey } = await store.createKey({ userId: ada.userId, name: 'laptop' })
        const expireTime = new Date(start + 1)
        const { apiKey: other } = await store.createKey({ userId: grace.userId, readOnly: true, expireTime })
        await store.touchKey(apiKey.keyId, new Date(start + 7))
        await store.revokeKey(other.keyId)
        return { ada, grace, plain, full, key }
      }

      it('tell everything, in an order in which they can be imported, as sound JSON', async () => {
        const { ada, grace, plain, full, key } = await givenAll()

        const records = await exported(store)

        const byId = <T>(idOf: (item: T) => string, items: T[]) =>
          items.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
        expect(records.map(({ kind }) => kind)).toEqual(
          [2, 2, 3, 2].flatMap((count, index) =>
            Array(count).fill(['user', 'organization', 'member', 'key'][index]),
          ),
        )
        const createTime = new Date(start).toISOString()
        expect(records.slice(0, 4)).toEqual([
          ...byId(({ userId }) => userId, [ada, grace]).map((user) => ({
            kind: 'user',
            ...user,
            createTime,
          })),
          ...byId(({ organizationId }) => organizationId, [plain, full]).map((organization) => ({
            kind: 'organization',
            ...organization,
            createTime,
          })),
        ])
        expect(records).toContainEqual(
          expect.objectContaining({
            kind: 'key',
            hash: hashApiKey(key),
            name: 'laptop',
            lastUsedTime: new Date(start + 7).toISOString(),
          }),
        )
        for (const record of records) expect(DirectoryRecord.parse(record)).toEqual(record)
      })

      it('make the same directory elsewhere, and can be imported again', async () => {
        const { ada, full, key } = await givenAll()
        const records = await exported(store)
        await using other = await open(() => new Date(time))

        for (const record of records) expect(await other.importRecord(record)).toBe('imported')
        for (const record of records) expect(await other.importRecord(record)).toBe('exists')

        expect(await exported(other)).toEqual(records)
        expect(await other.listMemberships(ada.userId)).toEqual(await store.listMemberships(ada.userId))
        const request = { keyHash: hashApiKey(key), organizationRef: full.slug }
        expect(await other.authorize(request, new Date(time))).toEqual(
          await store.authorize(request, new Date(time)),
        )
        const query: ListOrganizationsQuery = { userId: ada.userId, orderBy: [], limit: 10, skip: 0 }
        expect(await other.listOrganizations(query)).toEqual(await store.listOrganizations(query))
        await expect(other.createUser({ email: ada.email })).rejects.toMatchObject({ reason: 'EMAIL_TAKEN' })
      })

      it('are refused where something else is there, which stays as it is', async () => {
        await givenAll()
        const records = await exported(store)
        const [user, organization, member, key] = (['user', 'organization', 'member', 'key'] as const).map(
          (kind) => records.find((record) => record.kind === kind)!,
        ) as [DirectoryRecord, DirectoryRecord, DirectoryRecord, DirectoryRecord]
        const organizationId = (await givenOrganization()).organizationId
        const before = await exported(store)
        const refused = [
          { ...user, email: 'other@example.com' },
          { ...user, userId: randomUUID() },
          { ...organization, name: 'Other' },
          { ...organization, organizationId: randomUUID() },
          { ...member, createTime: new Date(start - 1).toISOString() },
          { ...member, organizationId },
          { ...key, name: 'Other' },
          { ...key, keyId: randomUUID() },
        ] as DirectoryRecord[]

        for (const record of refused) {
          await expect(store.importRecord(record)).rejects.toMatchObject({
            status: 'ALREADY_EXISTS',
            reason: 'RECORD_CONFLICT',
          })
        }

        expect(await exported(store)).toEqual(before)
      })

      it('are refused before those that they name', async () => {
        const { userId, organizationId } = await givenMember()
        const member = (await exported(store)).find(({ kind }) => kind === 'member')!
        const { apiKey } = await store.createKey({ userId })
        const key = (await exported(store)).find(({ kind }) => kind === 'key')!
        const nobody = { userId: randomUUID() }

        const attempts: [DirectoryRecord, string][] = [
          [{ ...member, ...nobody } as DirectoryRecord, 'USER_NOT_FOUND'],
          [{ ...key, ...nobody, keyId: randomUUID() } as DirectoryRecord, 'USER_NOT_FOUND'],
          [{ ...member, organizationId: randomUUID() } as DirectoryRecord, 'ORGANIZATION_NOT_FOUND'],
        ]
        for (const [record, reason] of attempts) {
          await expect(store.importRecord(record)).rejects.toMatchObject({ reason })
        }

        expect(await store.listMembers(organizationId)).toHaveLength(1)
        expect(await store.listKeys()).toEqual([apiKey])
      })
    })

    describe('a closed store', () => {
      it('is UNAVAILABLE', async () => {
        await store.close()

        await expect(store.ping()).rejects.toMatchObject({ status: 'UNAVAILABLE' })
        await expect(store.findUser('ada@example.com')).rejects.toMatchObject({ status: 'UNAVAILABLE' })
        await expect(givenUser()).rejects.toMatchObject({ status: 'UNAVAILABLE' })
      })
    })
  })
}
