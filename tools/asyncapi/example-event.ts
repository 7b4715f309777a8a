import type { FormEvent } from '@fms/contracts'

const organization = '0198b7a2-6c1e-7f0e-9d3c-0a8d1f7b2c44'
const form = `organizations/${organization}/forms/0198b7a2-7d2f-7a10-8e4d-1b9e2a8c3d55`

/** The event of a publish. */
export const exampleEvent: FormEvent = {
  specversion: '1.0',
  id: '0198b7a3-8e30-7b21-9f5e-2cafab9d4e66',
  source: `/v2/organizations/${organization}`,
  type: 'form.published',
  subject: form,
  time: '2026-11-20T09:30:00.000Z',
  datacontenttype: 'application/json',
  sequence: '0000000000000007',
  data: {
    form,
    publicId: 'k3TzQ81xYb',
    name: 'Customer feedback',
    etag: '"3-1yE0XqAYZb"',
    previousEtag: '"3-0yE0XqAYZb"',
    actor: {
      user: 'users/0198b7a1-5b0d-7e9f-8c2b-f97c0e6a1b33',
      key: { id: '0198b7a1-6c1e-7fa0-9d3c-0a8d1f7b2c44', prefix: 'k0Rz9aXw' },
    },
    httpRequestId: '7e4fe4f4-93f0-4b7c-b0a5-1b1e1a1c5a37',
    revision: `${form}/revisions/0198b7a3-8e30-7b21-9f5e-2cafab9d4e66`,
    number: 2,
  },
}
