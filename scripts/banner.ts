import type { Demo } from './demo-data.ts'

/** The file in `DATA_DIR` with the {@link StartedSystem}, readable by its owner only. */
export const systemFile = 'system.json'

/** A running system: its addresses, and what signs in. Members are absent without a demo, or a nats-server of its own. */
export interface StartedSystem {
  baseUrl: string
  demoOrganization?: string
  /** Absent if an operator has revoked it. */
  demoKey?: string
  /** Signs in to the console as the demo user, once and within 15 minutes. */
  consoleLink?: string
  /** URL of the NATS user `events`. */
  natsForReaders?: string
}

export const systemOf = (
  origin: string,
  demo: (Demo & { loginCode: string | undefined }) | undefined,
  natsForReaders: string | undefined,
): StartedSystem => ({
  baseUrl: `${origin}/v2`,
  ...(demo && { demoOrganization: demo.organizationSlug }),
  ...(demo?.apiKey && { demoKey: demo.apiKey }),
  ...(demo?.loginCode && { consoleLink: `${origin}/v2/console#code=${demo.loginCode}` }),
  ...(natsForReaders && { natsForReaders }),
})

/** What `npm start` prints once it is ready. The name of `secretsFile` replaces the secrets, which a log would keep. */
export const bannerOf = (system: StartedSystem, secretsFile?: string): string => {
  const { baseUrl, demoOrganization, demoKey, consoleLink, natsForReaders } = system
  const secret = (value: string) => (secretsFile ? `in ${secretsFile}` : value)
  const revoked = 'revoked; npm run formctl -- key create --user demo@example.com creates another'
  const signIn = consoleLink && !secretsFile ? consoleLink : `${baseUrl}/console`
  const rows = [
    ['Base URL', baseUrl],
    ['Reference page', `${baseUrl}/docs`],
    ...(demoOrganization
      ? [
          ['Demo organization', demoOrganization],
          ['Demo key', demoKey ? secret(demoKey) : revoked],
        ]
      : []),
    ['Console', signIn],
    ...(consoleLink && !secretsFile ? [['', '(signs in once, within 15 minutes)']] : []),
    ...(natsForReaders ? [['NATS for readers', secret(natsForReaders)]] : []),
  ]
  const table = rows.map(([name, value]) => `  ${name!.padEnd(19)}${value}\n`).join('')
  const key = demoKey && !secretsFile ? demoKey : 'KEY'
  const next = demoOrganization
    ? `  curl -H 'x-api-key: ${key}' ${baseUrl}/organizations/${demoOrganization}/forms`
    : '  npm run formctl -- --help creates organizations, users and keys'
  return `\n  Form management is ready; Ctrl-C stops it.\n\n${table}\n${next}\n\n`
}
