import type { Me } from 'carillon-client'
import { isCarillonError, signedOut } from '../../client/transport/errors.ts'
import { timesOf } from '../../element/times.ts'
import { type PageLanguage, textsOf } from '../../server/pages/texts/texts.ts'
import { PageElement } from './account-section.ts'
import type { ConfirmDialog } from './confirm-dialog.ts'
import { type Sending, send } from './requests.ts'

export abstract class PageFrame extends PageElement {
  protected abstract readonly root: string

  /** The route answers without a 401, which a browser would display in its console. */
  protected async readMe(): Promise<Me> {
    const me = await send<Me | null>(`${this.root}api/session`)
    if (me === null) throw signedOut()
    return me
  }

  /** If the service wants a recent sign-in, a dialog asks for it, and the request is sent again. */
  protected async send<Data>(path: string, sending?: Sending): Promise<Data> {
    const url = this.root + path
    try {
      return await send<Data>(url, sending)
    } catch (error) {
      if (!isCarillonError(error, 'FRESH_SIGN_IN_REQUIRED')) throw error
    }
    await this.querySelector<ConfirmDialog>('confirm-dialog')?.confirm()
    return send<Data>(url, sending)
  }
}

export async function readTexts(language: PageLanguage) {
  const [texts, words] = await Promise.all([
    textsOf('account', language),
    textsOf('requests', language),
  ])
  const { format } = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  return {
    language,
    texts,
    words,
    times: timesOf(language),
    exact: (at: string) => format(Date.parse(at)),
  }
}
