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
    return this.#do(async () => {
      await this.sure(this.own.outbox.drop, kind)
      await this.call(`outbox/${id}`, { method: 'DELETE' })
    })
  }

  protected override content({ waiting, webhooks, failed }: Outbox): TemplateResult {
    const { outbox, columns } = this.own
    const end = (
      row: Waiting,
    ) => html`<p class="buttons">${this.button(outbox.retry, () => this.#retry(row.id))}
${this.button(outbox.drop, () => this.#drop(row), 'danger')}</p>`
    return html`${this.section(columns.outbox, { rows: waiting, end, empty: outbox.empty })}
${waiting.length > 0 ? html`<p class="buttons">${this.button(outbox.retryAll, () => this.#retry())}</p>` : ''}${this.outcome()}
${this.section(outbox.failed, { rows: failed, columns: ['at', 'name', 'detail'], empty: outbox.noneFailed })}
${this.section(outbox.webhooks, { rows: webhooks, empty: outbox.noWebhooks })}`
  }
}
