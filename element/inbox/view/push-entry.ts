// The menu's entry that turns web push on and off. Its state is read before the menu opens.
import type { Carillon, PushOptions, PushState } from 'carillon-client'
import type { InboxSource } from '../../inbox-source.ts'
import type { Acts } from './acts.ts'
import type { Entry } from './menu.ts'

export class PushEntry {
  readonly #source: InboxSource
  readonly #acts: Acts
  readonly #options: () => PushOptions
  #client: Carillon | undefined
  #state: PushState = 'unsupported'

  constructor(source: InboxSource, acts: Acts, options: () => PushOptions) {
    this.#source = source
    this.#acts = acts
    this.#options = options
  }

  /** Once for each client. A failure leaves the entry out. */
  need(): void {
    const { client } = this.#source
    if (client === this.#client || !client?.push) return
    this.#client = client
    client.push.state(this.#options()).then(
      (state) => {
        this.#state = state
      },
      () => {
        this.#client = undefined
      },
    )
  }

  entries(): Entry[] {
    const { push: texts } = this.#source.strings
    if (this.#state === 'unsupported') return []
    const isOn = this.#state === 'on'
    return [
      {
        label: isOn ? texts.off : texts.on,
        act: () => this.#acts.notify(this.#turn(isOn), isOn ? texts.isOff : texts.isOn),
      },
    ]
  }

  /** Rejects with a text for the reader if the browser does not allow it. */
  async #turn(isOn: boolean): Promise<void> {
    const push = this.#client?.push
    if (isOn) await push?.turnOff(this.#options())
    this.#state = isOn ? 'off' : ((await push?.turnOn(this.#options())) ?? 'off')
    if (this.#state === 'denied') throw this.#source.strings.push.denied
  }
}
