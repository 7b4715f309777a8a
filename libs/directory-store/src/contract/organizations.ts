import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Directory, lowerCaseUuid, start } from './given.ts'

/** The contract of single organizations. */
export const organizationsContract = ({ store, givenOrganization, givenMember }: Directory): void => {
  describe('createOrganization', () => {
    it('assigns an id and a createTime, and stores an organization that is found by id in any letter case and by slug', async () => {
      const organization = await givenOrganization({ name: 'Acme', slug: 'acme' })

      expect(organization).toEqual({
        organizationId: expect.stringMatching(lowerCaseUuid),
        slug: 'acme',
        name: 'Acme',
        logo: null,
        metadata: null,
        createTime: new Date(start),
      })
      expect(await store().findOrganization(organization.organizationId.toUpperCase())).toEqual(organization)
      expect(await store().findOrganization('acme')).toEqual(organization)
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
    ])('stores the metadata %j unchanged', async (metadata) => {
      const { organizationId } = await givenOrganization({ metadata })

      expect((await store().findOrganization(organizationId))?.metadata).toEqual(metadata)
    })

    it('stores names and logos unchanged', async () => {
      const fields = { name: ' \0é\u{1f600} ', logo: 'https://example.com/logo.svg?a=%20#b' }
      const { organizationId } = await givenOrganization(fields)

      expect(await store().findOrganization(organizationId)).toMatchObject(fields)
    })

    it('rejects the slug of another organization', async () => {
      await givenOrganization({ slug: 'acme' })

      await expect(givenOrganization({ slug: 'acme' })).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'SLUG_TAKEN',
        parts: { metadata: { slug: 'acme' } },
      })
    })

    it('counts code points: accepts a name of 80 characters outside the basic plane and rejects 81', async () => {
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
    ])('rejects the slug %j', async (slug) => {
      await expect(givenOrganization({ slug })).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        parts: { fieldViolations: expect.arrayContaining([expect.objectContaining({ field: 'slug' })]) },
      })
    })

    it('reports all violations in one error', async () => {
      const wrong = store().createOrganization({ name: '', slug: 'acme', logo: 'logo.png' })

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

        expect(await store().findUser(ref)).toBeUndefined()
        expect(await store().findOrganization(ref)).toBeUndefined()
      },
    )
  })

  describe('getOrganization', () => {
    it('finds the organization for members, by id in any letter case and by slug', async () => {
      const { organization, organizationId, userId } = await givenMember('viewer')

      for (const ref of [organizationId, organizationId.toUpperCase(), organization.slug]) {
        expect(await store().getOrganization(userId, ref)).toEqual(organization)
      }
    })

    it('does not find the organization for other users', async () => {
      const { organization, organizationId } = await givenMember()
      const { userId } = await givenMember()

      for (const ref of [organizationId, organization.slug, 'missing', '']) {
        expect(await store().getOrganization(userId, ref)).toBeUndefined()
      }
    })
  })
}
