import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runFormctl } from '../testing/run-formctl.ts'

const scriptOf = async (shell: string) => (await runFormctl(['completion', shell])).stdout

/** What bash offers when Tab is pressed at the end of the line. */
const completed = async (line: string): Promise<string[]> => {
  const script = `${await scriptOf('bash')}
    COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
    _formctl; echo "\${COMPREPLY[@]}"`
  const words = execFileSync('bash', ['--norc', '-uc', script], { encoding: 'utf8' }).trim()
  return words === '' ? [] : words.split(' ')
}

const shellIsThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

describe('formctl completion', () => {
  it.each([
    ['formctl us', ['user']],
    ['formctl key ', ['create', 'list', 'rotate', 'update', 'revoke', 'help', '--help', '--json']],
    ['formctl key create --r', ['--read-only']],
    ['formctl --json key cr', ['create']],
    ['formctl member add --user ada@example.com --role ', ['viewer', 'editor', 'owner']],
    ['formctl member add --role ow', ['owner']],
    ['formctl member add --role owner --org', ['--organization']],
    ['formctl key create --user ', []],
    ['formctl completion ', ['bash', 'zsh', 'fish', '--help', '--json']],
  ])('completes "%s" in bash', async (line, words) => {
    expect(await completed(line)).toEqual(words)
  })

  it.skipIf(!shellIsThere('zsh'))('is a valid zsh script', async () => {
    execFileSync('zsh', ['-fnc', await scriptOf('zsh')])
  })

  it.skipIf(!shellIsThere('fish'))('completes in fish', async () => {
    const script = `${await scriptOf('fish')}\ncomplete -C 'formctl member add --role ow'`
    expect(execFileSync('fish', ['-Nc', script], { encoding: 'utf8' }).trim()).toBe('owner')
  })

  it('contains every command in the scripts of all shells', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = await scriptOf(shell)
      for (const word of [
        'organization create',
        'organization show',
        'key rotate',
        'doctor',
        'overlap',
        'read-only',
      ]) {
        expect(script).toContain(word)
      }
    }
  })

  it('is invalid usage for any other shell', async () => {
    expect(await runFormctl(['completion', 'cmd'])).toMatchObject({ code: 2, stdout: '' })
  })
})
