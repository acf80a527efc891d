import { html, type TemplateResult } from 'lit'
import type { Page } from '../account/loaded-section.ts'
import { OperatorView, type Row } from './operator-view.ts'

type Waiting = Row & { id: string; kind: string }
type Outbox = { waiting: Waiting[]; webhooks: Row[]; failed: readonly Row[] }

export class OutboxView extends OperatorView<Outbox> {
  protected override async read(): Promise<Outbox> {
    const [outbox, failed] = await Promise.all([
      this.call<Omit<Outbox, 'failed'>>('outbox'),
      this.call<Page<Row>>('audit?event=send-given-up'),
    ])
    return { ...outbox, failed: failed.items }
  }

  async #do(work: () => Promise<unknown>): Promise<void> {
    await this.act(
      async () => {
        await this.explained(work(), { NOT_FOUND: () => this.own.outbox.gone })
        await this.reload()
      },
      () => this.own.outbox.done,
    )
  }

  #retry(id?: string): Promise<void> {
    return this.#do(() => this.call('outbox/retry', { body: { id } }))
  }

  #drop({ id, kind }: Waiting): Promise<void> {
    const { drop } = this.own.outbox
    return this.#do(async () => {
      await this.ask({ title: `${drop}: ${kind}?`, text: this.own.users.cannotUndo, action: drop })
      await this.call(`outbox/${id}`, { method: 'DELETE' })
    })
  }

  protected override content({ waiting, webhooks, failed }: Outbox): TemplateResult {
    const { outbox } = this.own
    const end = (
      row: Waiting,
    ) => html`<p class="buttons">${this.button(outbox.retry, () => this.#retry(row.id))}
${this.button(outbox.drop, () => this.#drop(row), 'danger')}</p>`
    return html`<h3>${outbox.waiting}</h3>
${this.table(outbox.waiting, { rows: waiting, end, empty: outbox.empty })}
${waiting.length > 0 ? html`<p class="buttons">${this.button(outbox.retryAll, () => this.#retry())}</p>` : ''}${this.outcome()}
<h3>${outbox.failed}</h3>${this.table(outbox.failed, { rows: failed, columns: ['at', 'name', 'detail'], empty: outbox.noneFailed })}
<h3>${outbox.webhooks}</h3>${this.table(outbox.webhooks, { rows: webhooks, empty: outbox.noWebhooks })}`
  }
}
