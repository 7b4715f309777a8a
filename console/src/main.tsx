import { render } from 'preact'
import { App } from './app.tsx'
import { hasLoginCode, takeLoginCode } from './routing/navigation.ts'
import { resumeSession, signInWithCode } from './session/session.ts'
import './style.css'

const root = document.querySelector('#app')!

/** Signs in with a login link, or continues the session of the tab. */
const enter = async (): Promise<void> => {
  const code = takeLoginCode()
  const error = await (code === undefined ? resumeSession() : signInWithCode(code)).then(
    () => undefined,
    (error: unknown) => error,
  )
  render(<App error={error} />, root)
}

// A login link that is opened in a tab of the console changes the fragment only.
addEventListener('hashchange', () => {
  if (hasLoginCode()) enter()
})
await enter()
