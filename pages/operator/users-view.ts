import { html, nothing, type TemplateResult } from 'lit'
import { type Account, states } from '../account/account-section.ts'
import type { Page } from '../account/loaded-section.ts'
import { type Operator, OperatorView, type Row, valuesOf } from './operator-view.ts'
import { lanes } from './pictures.ts'

type Person = {
  id: string
  username: string | null
  displayName: string | null
  externalId: string | null
  email: string | null
  disabled: boolean
  role: string | null
}

function nameOf({ username, externalId, id }: Person): string {
  return username ?? externalId ?? id
}

/** A search finds so many, and has no next page. */
const maxFound = 50

export class UsersView extends OperatorView<Page<Person>> {
  #search = ''

  protected override read(after = ''): Promise<Page<Person>> {
    return this.call(`users?search=${encodeURIComponent(this.#search)}&after=${after}`)
  }

  #find(event: Event): Promise<void> {
    this.#search = valuesOf(event).search ?? ''
    return this.reload()
  }

  protected override content(page: Page<Person>): TemplateResult {
    const { own } = this
    return html`${this.search(this.#find, this.field('search', own.users.search, 'search'))}
${page.items.length === 0 ? html`<p class="hint" role="status">${own.noMatch}</p>` : nothing}
<ul class="entries">${this.entries(page.items, (one) => this.#item(one))}</ul>
${this.#search !== '' && page.items.length === maxFound ? html`<p class="hint">${own.users.first}</p>` : nothing}
<p class="buttons">${this.moreButton(page, (after) => this.read(after))}</p>${this.outcome()}`
  }

  #item(one: Person): TemplateResult {
    const { displayName, email, externalId } = one
    const facts = [displayName, email, externalId].filter((fact) => fact && fact !== nameOf(one))
    return html`<li><div class="about"><a href="#users/${one.id}"><strong>${nameOf(one)}</strong></a> ${badges(one, this.own)}
<div class="hint facts">${facts.map((fact) => html`<span>${fact}</span> `)}</div></div></li>`
  }
}

function badges({ disabled, role }: Person, { users }: Operator['own']) {
  const words = [disabled && users.disabled, role === 'operator' && users.operator]
  return words.filter(Boolean).map((word) => html`<span class="badge">${word}</span> `)
}

const tables = ['signIns', 'devices', 'factors', 'accounts', 'mutes'] as const
type Whole = { user: Person; inbox: Row } & Record<
  (typeof tables)[number] | 'trail',
  readonly Row[]
>
type Act = keyof Operator['own']['users']['acts']

export class PersonView extends OperatorView<Whole> {
  static override properties = states('link')

  declare link: { url: string; expiresAt: string } | undefined

  protected override async read(): Promise<Whole> {
    const [whole, trail] = await Promise.all([
      this.call<Whole>(this.#place),
      this.call<Page<Row>>(`audit?user=${this.account.argument}&limit=100`),
    ])
    return { ...whole, trail: trail.items }
  }

  get #place(): string {
    return `users/${this.account.argument}`
  }

  async #do(act: Act, name: string): Promise<void> {
    const { acts, conflict } = this.own.users
    const requests: Record<Act, [path: string, sending: Parameters<Account['send']>[1]]> = {
      sessions: ['/sessions', { method: 'DELETE' }],
      factors: ['/factors', { method: 'DELETE' }],
      disable: ['/disable', { method: 'POST' }],
      enable: ['/enable', { method: 'POST' }],
      reset: ['/links', { body: { purpose: 'reset' } }],
      invite: ['/links', { body: { purpose: 'invite' } }],
      erase: ['', { method: 'DELETE' }],
    }
    const [path, sending] = requests[act]
    const work = async () => {
      await this.sure(acts[act], name, act === 'erase' ? undefined : '')
      const request = this.call<PersonView['link']>(this.#place + path, sending)
      this.link = await this.explained(request, { CONFLICT: () => conflict })
      if (act !== 'erase') await this.reload()
    }
    const isDone = await this.act(work, () => this.own.done)
    if (isDone && act === 'erase') location.hash = 'users'
  }

  protected override content(whole: Whole): TemplateResult {
    const { own } = this
    const { user, inbox } = whole
    const acts = (Object.keys(own.users.acts) as Act[]).filter(
      (act) => act !== (user.disabled ? 'disable' : 'enable'),
    )
    return html`<p><a href="#users">${own.back}</a></p>
<h3>${nameOf(user)} ${badges(user, own)}</h3>
${this.facts(user)}
<p class="buttons">${acts.map((act) => this.button(own.users.acts[act], () => this.#do(act, nameOf(user)), act === 'erase' ? 'danger' : undefined))}</p>
${this.secret(own.users.link(this.link ? this.account.exact(this.link.expiresAt) : ''), this.link?.url)}
${this.outcome()}
<h3>${own.users.lanes}</h3><p class="hint">${own.users.lanesHint}</p>${lanes(own.users.lanes, whole, Date.now())}
<h3>${own.users.inbox}</h3>${this.facts(inbox)}
${tables.map((name) => this.section(own.users[name], { rows: whole[name], empty: own.users.none[name] }))}
<p><a href="#audit/${user.id}">${own.users.trail}</a></p>`
  }
}
