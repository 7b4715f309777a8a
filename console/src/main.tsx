import { render } from 'preact'
import { App } from './app.tsx'
import { hasLoginCode, takeLoginCode } from './routing/navigation.ts'
import { enterConsole } from './session/entry.ts'
import './style.css'

// A login link that is opened in a tab of the console changes the fragment only.
addEventListener('hashchange', () => {
  if (hasLoginCode()) enterConsole(takeLoginCode())
})
await enterConsole(takeLoginCode())
render(<App enter={enterConsole} />, document.querySelector('#app')!)
