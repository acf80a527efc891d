// <account-providers>: links and unlinks accounts at providers. Without any, it displays nothing.
import { html, nothing, type TemplateResult } from 'lit'
import { LoadedSection } from '../loaded-section.ts'

type Linked = {
  provider: string | null
  displayName: string
  email: string | null
  createdAt: string
}

export class ProvidersSection extends LoadedSection<readonly Linked[]> {
  constructor() {
    super()
    this.data = []
  }

  protected override async read(): Promise<readonly Linked[]> {
    return (await this.account.send<{ items: Linked[] }>('api/me/providers')).items
  }

  async #link(provider: string): Promise<void> {
    await this.act(async () => {
      const body = { returnTo: `${location.pathname}#factors` }
      const path = `api/me/providers/${provider}/link`
      const { url } = await this.account.send<{ url: string }>(path, { body })
      location.assign(url)
    })
  }

  async #unlink(provider: string, displayName: string): Promise<void> {
    const { providers, factors } = this.texts
    const question = {
      title: providers.unlinkTitle(displayName),
      text: factors.removeText,
      action: providers.unlink,
    }
    const work = async () => {
      await this.ask(question)
      await this.delete(`api/me/providers/${provider}`, {
        CONFLICT: (texts) => texts.providers.onlyWay,
      })
    }
    if (await this.act(work, (texts) => texts.providers.unlinked)) await this.focusOn('h3')
  }

  protected override content(linked: readonly Linked[]): TemplateResult | typeof nothing {
    const { account, texts } = this
    if (linked.length + account.offered.length === 0) return nothing
    const others = account.offered.filter(
      ({ name }) => !linked.some(({ provider }) => provider === name),
    )
    return html`<h3>${texts.providers.title}</h3>
<p class="hint">${texts.providers.intro}</p>
<ul class="entries">${linked.map((one) => this.#item(one))}</ul>
<p class="buttons">${others.map(({ name, displayName }) =>
      this.button(texts.providers.linkWith(displayName), () => this.#link(name)),
    )}</p>
${this.outcome()}`
  }

  #item({ provider, displayName, email, createdAt }: Linked): TemplateResult {
    const { providers } = this.texts
    const unlink = html`${providers.unlink}<span class="for-readers"> ${displayName}</span>`
    return html`<li><div class="about"><strong>${displayName}</strong><div class="hint facts">${email && html`<span>${email}</span>`}
${this.roughly(createdAt, providers.linked)}${provider === null ? html` <span>${providers.gone}</span>` : nothing}</div></div>${
      provider === null
        ? nothing
        : html`<div class="buttons">${this.button(unlink, () => this.#unlink(provider, displayName))}</div>`
    }</li>`
  }
}
