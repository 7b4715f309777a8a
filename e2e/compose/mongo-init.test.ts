import { describe, expect, it } from 'vitest'
import { runMongoInit } from './mongosh.ts'

const env = {
  MONGODB_ORGANIZATIONS_PASSWORD: 'o',
  MONGODB_FORMS_PASSWORD: 'f',
  MONGODB_PUBLISHER_PASSWORD: 'p',
  MONGODB_FORMCTL_PASSWORD: 'c',
}

interface User {
  password: unknown
  roles: unknown
}

/** A fake server with a replica set and users. `npm run test:compose` uses a server that enforces them. */
const fakeServer = ({ isInitiated = true, statusError = 'NotYetInitialized' } = {}) => {
  const users = new Map<string, User>()
  const commands: string[] = []
  let helloes = 0
  const fail = (codeName: string) => {
    throw Object.assign(new Error(codeName), { codeName })
  }
  const adminCommand = (command: Record<string, unknown>): unknown => {
    const [name, value] = Object.entries(command)[0] as [string, string]
    commands.push(name)
    if (name === 'replSetGetStatus') return isInitiated || fail(statusError)
    if (name === 'replSetInitiate') isInitiated = true
    if (name === 'hello') return { isWritablePrimary: isInitiated && ++helloes > 1 }
    if (name === 'usersInfo') return { users: users.has(value) ? [{ user: value }] : [] }
    if (name === 'createUser' && users.has(value)) fail('Location51003')
    if (name === 'updateUser' && !users.has(value)) fail('UserNotFound')
    if (/User$/.test(name)) users.set(value, { password: command.pwd, roles: command.roles })
    return { ok: 1 }
  }
  return { users, commands, adminCommand }
}

const readWrite = (...databases: string[]) => databases.map((db) => ({ role: 'readWrite', db }))

describe('deploy/mongo-init.js', () => {
  it('creates a user for each process, with access only to its databases', () => {
    const { users, commands, adminCommand } = fakeServer()

    runMongoInit(adminCommand, env)

    expect(Object.fromEntries(users)).toEqual({
      organizations: { password: 'o', roles: readWrite('directory') },
      forms: { password: 'f', roles: readWrite('forms') },
      publisher: { password: 'p', roles: readWrite('forms') },
      formctl: {
        password: 'c',
        roles: [...readWrite('directory', 'forms'), { role: 'clusterMonitor', db: 'admin' }],
      },
    })
    expect(commands).not.toContain('replSetInitiate')
  })

  it('is idempotent, and updates a changed password', () => {
    const { users, adminCommand } = fakeServer()
    runMongoInit(adminCommand, env)

    runMongoInit(adminCommand, { ...env, MONGODB_FORMS_PASSWORD: 'changed' })

    expect(users.size).toBe(4)
    expect(users.get('forms')).toEqual({ password: 'changed', roles: readWrite('forms') })
  })

  it('initiates the replica set, and creates users when it has a primary', () => {
    const { commands, adminCommand } = fakeServer({ isInitiated: false })

    runMongoInit(adminCommand, env)

    expect(commands.slice(0, 5)).toEqual([
      'replSetGetStatus',
      'replSetInitiate',
      'hello',
      'hello',
      'usersInfo',
    ])
  })

  it('fails when the server reports another error', () => {
    const { commands, adminCommand } = fakeServer({ isInitiated: false, statusError: 'Unauthorized' })

    expect(() => runMongoInit(adminCommand, env)).toThrow('Unauthorized')
    expect(commands).toEqual(['replSetGetStatus'])
  })
})
