import { signal } from '@preact/signals'

/** What the tabs with a form tell each other. */
type Message = { is: 'opened' | 'open' | 'closed' } | { is: 'saved'; etag: string }

/** The other tabs of this browser in which the user has opened the same form. */
export class OtherTabs {
  /** Whether there are any. */
  readonly areOpen = signal(false)
  readonly #channel
  readonly #savedEtags = new Set<string>()

  constructor(userPath: string, formPath: string) {
    this.#channel = new BroadcastChannel(`fms-console:${userPath}:${formPath}`)
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.is === 'saved') this.#savedEtags.add(data.etag)
      if (data.is === 'opened') this.#tell({ is: 'open' })
      // There may be a third tab, which answers.
      if (data.is === 'closed') this.#tell({ is: 'opened' })
      this.areOpen.value = data.is !== 'closed'
    }
    this.#tell({ is: 'opened' })
    addEventListener('pagehide', this.#sayClosed)
    addEventListener('pageshow', this.#sayOpened)
  }

  /** Whether another tab has saved a state of the form. */
  haveSaved(etag: string): boolean {
    return this.#savedEtags.has(etag)
  }

  /** Tells the others which state this tab has saved. */
  saved(etag: string): void {
    this.#tell({ is: 'saved', etag })
  }

  close(): void {
    removeEventListener('pagehide', this.#sayClosed)
    removeEventListener('pageshow', this.#sayOpened)
    this.#sayClosed()
    this.#channel.close()
  }

  readonly #sayOpened = () => this.#tell({ is: 'opened' })
  readonly #sayClosed = () => this.#tell({ is: 'closed' })

  #tell(message: Message): void {
    this.#channel.postMessage(message)
  }
}
