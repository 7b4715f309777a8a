import { render } from 'preact'
import { App } from './app.tsx'
import { resumeSession } from './session/session.ts'
import './style.css'

const root = document.querySelector('#app')!
const error = await resumeSession().then(
  () => undefined,
  (error: unknown) => error,
)
render(<App error={error} />, root)
