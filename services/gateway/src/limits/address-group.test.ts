import { expect, it } from 'vitest'
import { addressGroupOf } from './address-group.ts'

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', ''],
  ['192.0.2.7:4711', ''],
  [undefined, ''],
])('the group of %s is %s', (ip, group) => {
  expect(addressGroupOf(ip)).toBe(group)
})
