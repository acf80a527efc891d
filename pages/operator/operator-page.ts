// One view at a time, by the anchor of the address, such as operator#users/<id>.
import './language.ts'
import { html, nothing, type TemplateResult } from 'lit'
import { pageLanguageOf, textsOf } from '../../server/pages/texts/texts.ts'
import { faultOf, states } from '../account/account-section.ts'
import { ConfirmDialog } from '../account/confirm-dialog.ts'
import { PageFrame, readTexts } from '../account/page-frame.ts'
import { AttacksView } from './attacks-view.ts'
import { AuditView } from './audit-view.ts'
import { OperatorBrush } from './brush.ts'
import { DeliveriesView } from './deliveries-view.ts'
import { KeysView } from './keys-view.ts'
import { NowView } from './now-view.ts'
import type { Operator } from './operator-view.ts'
import { OutboxView } from './outbox-view.ts'
import { OperatorStrip } from './strip.ts'
import { PersonView, UsersView } from './users-view.ts'

const views = {
  now: NowView,
  users: UsersView,
  keys: KeysView,
  deliveries: DeliveriesView,
  outbox: OutboxView,
  attacks: AttacksView,
  audit: AuditView,
}
type Name = keyof typeof views
const names = Object.keys(views) as Name[]
const elements = { ...views, person: PersonView, strip: OperatorStrip, brush: OperatorBrush }
for (const [name, element] of Object.entries(elements))
  customElements.define(`operator-${name}`, element)
customElements.define('confirm-dialog', ConfirmDialog)

const container = document.getElementById('operator')
const { root = '', pages = '' } = container?.dataset ?? {}

class OperatorFrame extends PageFrame {
  static override properties = states('account', 'failure', 'name')

  declare account: Operator | undefined
  declare failure: unknown
  declare name: Name
  protected readonly root = root
  #view: HTMLElement & { account?: Operator } = new NowView()

  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('hashchange', () => this.#show(true))
    void this.#start()
  }

  async #start(): Promise<void> {
    const language = pageLanguageOf([document.documentElement.lang])
    const [read, own] = await Promise.all([readTexts(language), textsOf('operator', language)])
    container?.querySelector('.skeleton')?.remove()
    const me = await this.readMe().catch((error: unknown) => {
      this.failure = faultOf(error, { words: read.words, pages })
    })
    if (!me) return
    const refresh = async () => {}
    const unused = { passwordMinLength: 0, offered: [], revision: 0 }
    this.account = {
      ...unused,
      ...read,
      root,
      pages,
      argument: '',
      own,
      me,
      send: this.send.bind(this),
      refresh,
      refreshFrame: refresh,
    }
    this.#show(false)
  }

  #show(isMoved: boolean): void {
    const [wanted = '', argument = ''] = location.hash.slice(1).split('/')
    // "Skip to the content" has an anchor of its own.
    if (isMoved && !names.includes(wanted as Name)) return
    this.name = names.find((name) => name === wanted) ?? 'now'
    const isPerson = this.name === 'users' && argument !== ''
    this.#view = new (isPerson ? PersonView : views[this.name])()
    if (this.account) this.account = { ...this.account, argument }
    if (isMoved) void this.updateComplete.then(() => this.querySelector('h2')?.focus())
  }

  protected override render(): TemplateResult | typeof nothing {
    const { account, failure, name } = this
    if (failure) return html`<p class="fault" role="alert">${failure}</p>`
    if (!account) return nothing
    const { titles, views: label } = account.own
    this.#view.account = account
    return html`<nav class="sections" aria-label=${label}><ul>
${names.map((one) => html`<li><a href="#${one}" aria-current=${one === name ? 'page' : nothing}>${titles[one]}</a></li>`)}
</ul></nav>
<section class="card" aria-labelledby="view-title"><h2 id="view-title" tabindex="-1">${titles[name]}</h2>${this.#view}</section>
<confirm-dialog .account=${account}></confirm-dialog>`
  }
}

customElements.define('operator-frame', OperatorFrame)
container?.append(new OperatorFrame())
