// A secret is displayed once, and is nowhere after the view is left.
import { html, type TemplateResult } from 'lit'
import { states } from '../account/account-section.ts'
import { OperatorView, type Row, valuesOf } from './operator-view.ts'

type Key = Row & { id: string; name: string; revokedAt: string | null }

export class KeysView extends OperatorView<readonly Key[]> {
  static override properties = states('made')

  declare made: string | undefined

  protected override async read(): Promise<readonly Key[]> {
    return (await this.call<{ items: Key[] }>('keys')).items
  }

  async #create(event: Event): Promise<void> {
    const { name, application, days, rate, ...scopes } = valuesOf(event)
    const wanted = {
      name,
      application,
      rate,
      scopes: Object.keys(scopes),
      ...(days && { days: Number(days) }),
    }
    const form = event.target as HTMLFormElement
    if (await this.act(() => this.#make('keys', wanted))) form.reset()
  }

  async #make(path: string, body: object): Promise<void> {
    this.made = (await this.call<{ key: string }>(path, { body })).key
    await this.reload()
  }

  async #rotate({ id, name }: Key): Promise<void> {
    const { rotate, overlap } = this.own.keys
    await this.act(async () => {
      await this.sure(rotate, name, overlap)
      await this.#make(`keys/${id}/rotate`, { overlapHours: 24 })
    })
  }

  async #revoke({ id, name }: Key): Promise<void> {
    await this.act(async () => {
      await this.sure(this.own.keys.revoke, name)
      await this.call(`keys/${id}`, { method: 'DELETE' })
      await this.reload()
    })
  }

  protected override content(rows: readonly Key[]): TemplateResult {
    const { keys, titles, columns } = this.own
    const choice = ([name, text]: string[]) =>
      html`<label class="choice"><input type="checkbox" name=${name} ?checked=${name === 'send'}>${text}</label>`
    return html`${this.table(titles.keys, { rows, end: (key) => this.#acts(key), empty: keys.empty })}
${this.secret(keys.secret, this.made)}${this.outcome()}
<form @submit=${this.#create}><h3>${keys.create}</h3>
${this.field('name', columns.name)}${this.field('application', keys.application)}${this.field('rate', keys.rate)}${this.field('days', keys.days, 'number')}
${Object.entries(keys.scopes).map(choice)}
<p class="buttons"><button class="primary">${keys.create}</button></p></form>`
  }

  #acts(key: Key) {
    const { rotate, revoke, revoked } = this.own.keys
    if (key.revokedAt !== null) return html`<span class="badge">${revoked}</span>`
    const which = html`<span class="for-readers"> ${key.name}</span>`
    return html`<p class="buttons">${this.button(html`${rotate}${which}`, () => this.#rotate(key))}
${this.button(html`${revoke}${which}`, () => this.#revoke(key), 'danger')}</p>`
  }
}
