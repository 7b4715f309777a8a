import { signal } from '@preact/signals'

/** What the tabs with a form tell each other. */
type Message = { is: 'question' | 'answer' } | { is: 'saved'; etag: string }

/** The time between two questions, in milliseconds; a tab that does not answer one is closed. */
const questionMs = 2000

/**
 * The other tabs of this browser in which the user has opened the same form. A tab asks for them
 * again and again, since one that is closed or crashes cannot be relied on to say so.
 */
export class OtherTabs {
  /** Whether there are any. */
  readonly areOpen = signal(false)
  readonly #channel
  readonly #questions
  readonly #savedEtags = new Set<string>()
  #heard = false

  constructor(userPath: string, formPath: string) {
    this.#channel = new BroadcastChannel(`fms-console:${userPath}:${formPath}`)
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.is === 'saved') this.#savedEtags.add(data.etag)
      if (data.is === 'question') this.#tell({ is: 'answer' })
      this.#heard = true
      this.areOpen.value = true
    }
    this.#tell({ is: 'question' })
    this.#questions = setInterval(() => {
      this.areOpen.value = this.#heard
      this.#heard = false
      this.#tell({ is: 'question' })
    }, questionMs)
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
    clearInterval(this.#questions)
    this.#channel.close()
  }

  #tell(message: Message): void {
    this.#channel.postMessage(message)
  }
}
