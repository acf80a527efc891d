// What the account page says about a failed request.
import { html, nothing, type TemplateResult } from 'lit'
import type { TextsOf } from '../../server/pages/texts/texts.ts'
import { isFailure } from './requests.ts'
import { sentenceOf } from './sentences.ts'

/** The user closed a dialog that the request needed: nothing has happened, and nothing is said. */
export class Cancelled extends Error {}

type Words = TextsOf<'requests'>

/** A sentence, with a link that leads back here if the sign-in has ended. `pages`: the prefix of the pages, relative to this one. */
export function faultOf(error: unknown, words: Words, pages: string): TemplateResult | string | typeof nothing {
  if (error === undefined || error instanceof Cancelled) return nothing
  if (!isFailure(error, 'UNAUTHORIZED')) return sentenceOf(error, words)
  const signIn = `${pages}sign-in?return_to=${encodeURIComponent(location.pathname)}`
  return html`${words.failures.UNAUTHORIZED} <a href=${signIn}>${words.signInAgain}</a>`
}
