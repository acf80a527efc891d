// <account-push>: turns web push on and off in this browser, and off in every other one.
import { html, nothing, type TemplateResult } from 'lit'
import { type Push, type PushState, pushOf } from '../../../client/carillon-client.ts'
import { Requests } from '../../../client/transport/requests.ts'
import type { PushSubscriptions } from '../../../client/transport/types.ts'
import { Explained } from '../account-section.ts'
import { LoadedSection } from '../loaded-section.ts'

type Shown = { state: PushState; items: PushSubscriptions['items'] }

export class PushSection extends LoadedSection<Shown> {
  #made: Push | undefined

  get #push(): Push {
    this.#made ??= pushOf(new Requests({ baseUrl: this.account.root || '.' }, 'cookie'))
    return this.#made
  }

  protected override async read(): Promise<Shown> {
    const state = await this.#push.state()
    const { items } = await this.account.send<PushSubscriptions>('api/me/push-subscriptions')
    return { state, items }
  }

  async #turn(isOn: boolean): Promise<void> {
    const work = async () => {
      if (isOn) await this.#push.turnOff()
      else if ((await this.#push.turnOn()) === 'denied')
        throw new Explained(({ push }) => push.denied)
    }
    await this.act(work, ({ push }) => (isOn ? push.isOff : push.isOn))
    await this.reload()
  }

  async #remove(id: string): Promise<void> {
    const work = () =>
      this.delete(`api/me/push-subscriptions/${id}`, { NOT_FOUND: ({ push }) => push.ended })
    if (await this.act(work, ({ push }) => push.removed)) await this.focusOn()
    await this.reload()
  }

  protected override content({ state, items }: Shown): TemplateResult {
    const { push } = this.texts
    const isOn = state === 'on'
    const why = state === 'unsupported' || state === 'denied' ? push[state] : undefined
    const button = this.button(isOn ? push.off : push.on, () => this.#turn(isOn))
    return html`<h3>${push.title}</h3>
<p class="hint">${why ?? push.hint}</p>
${why ? nothing : html`<p class="buttons">${button}</p>`}
<ul class="entries">${this.entries(items, (one) => this.#item(one))}</ul>
${this.outcome()}`
  }

  #item({ id, device, createdAt }: Shown['items'][number]): TemplateResult {
    const { push } = this.texts
    const name = this.deviceName(device)
    return html`<li><div class="about"><strong>${name}</strong><div class="hint">${push.since(this.account.exact(createdAt))}</div></div>
<div class="buttons">${this.button(html`${push.remove}<span class="for-readers"> ${name}</span>`, () => this.#remove(id))}</div></li>`
  }
}
