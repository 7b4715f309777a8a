/** `npm run fuzz`: runs Schemathesis against a new system. Arguments after `--` go to Schemathesis. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Account, publishable, type System, startSystem } from '../../e2e/system.ts'

const here = import.meta.dirname
const venv = join(here, '../../node_modules/.cache/fuzz')

const code = await fuzz(installSchemathesis(), process.argv.slice(2))
process.exit(code)

/** Installs Schemathesis with the `python3` on the PATH at the first run. @returns the path of the program. */
function installSchemathesis(): string {
  const program = join(venv, 'bin/schemathesis')
  if (!existsSync(program)) {
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
    execFileSync(
      join(venv, 'bin/pip'),
      ['install', '--quiet', '--requirement', join(here, 'requirements.txt')],
      {
        stdio: 'inherit',
      },
    )
  }
  return program
}

async function fuzz(schemathesis: string, args: string[]): Promise<number> {
  await using system = await startSystem({
    env: { RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'error' },
  })
  const owner = await system.account({ role: 'owner' })
  const editor = await system.account({ in: owner })
  const viewer = await system.account({ role: 'viewer', in: owner })
  const readOnly = await system.account({ readOnly: true, in: owner })
  const stranger = await system.account()
  const forms = await publishedForms(system, owner)
  const deletedForms = await publishedForms(system, owner)
  for (const form of deletedForms) await system.call(owner, 'DELETE', `${owner.forms}/${form}`)

  const document = join(system.dataDir, 'openapi.json')
  writeFileSync(document, await (await fetch(`${system.baseUrl}/openapi.json`)).text())

  const config = ['--config-file', join(here, 'schemathesis.toml')]
  const run = spawn(
    schemathesis,
    // Reads the document from a file: Schemathesis omits the operation that serves a document read by URL.
    [...config, 'run', document, '--url', system.baseUrl, ...args],
    {
      stdio: 'inherit',
      // Schemathesis stores its cache and reports here.
      cwd: venv,
      env: {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: here,
        FUZZ_ORGANIZATION: owner.slug,
        FUZZ_FORMS: forms.join(','),
        FUZZ_DELETED_FORMS: deletedForms.join(','),
        FUZZ_OWNER_KEY: owner.apiKey,
        FUZZ_EDITOR_KEY: editor.apiKey,
        FUZZ_VIEWER_KEY: viewer.apiKey,
        FUZZ_READ_ONLY_KEY: readOnly.apiKey,
        FUZZ_STRANGER_KEY: stranger.apiKey,
      },
    },
  )
  const [code] = await once(run, 'exit')
  return code ?? 1
}

/** Creates 20 forms with 3 revisions each. @returns their public ids. */
async function publishedForms(system: System, editor: Account): Promise<string[]> {
  const forms = []
  for (let count = 0; count < 20; count++) {
    const form = (await system.call(editor, 'POST', editor.forms, { form: publishable() })).body
    for (let revision = 0; revision < 3; revision++) {
      await system.call(editor, 'POST', `${editor.forms}/${form.publicId}/publish`)
    }
    forms.push(form.publicId)
  }
  return forms
}
