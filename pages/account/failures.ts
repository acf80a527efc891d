// What a page says about a failed request.
import type { PasswordFault } from 'carillon-client'
import type { TextsOf } from 'carillon-inbox/languages'
import { html, nothing, type TemplateResult } from 'lit'
import { isFailure } from './requests.ts'

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

export function sentenceOf(error: unknown, words: Words): string {
  if (!isFailure(error)) return words.failures.other
  const { code, retryAfter } = error
  const sentences: Readonly<Record<string, string>> = words.failures
  const sentence = sentences[code] ?? words.failures.other
  if (code !== 'TOO_MANY_REQUESTS' && code !== 'UNAVAILABLE') return sentence
  return `${sentence} ${waitOf(retryAfter, words)}`
}

function waitOf(seconds: number | undefined, { soon, inSeconds, inMinutes }: Words): string {
  if (seconds === undefined) return soon
  return seconds < 100 ? inSeconds(Math.ceil(seconds)) : inMinutes(Math.ceil(seconds / 60))
}

/** Why the service refused a password, in the words of the page; undefined if it failed for another reason. */
export function passwordFaultOf(error: unknown, { passwordFaults }: Words, minLength: number): string | undefined {
  if (!isFailure(error)) return undefined
  if (error.code === 'PAYLOAD_TOO_LARGE') return passwordFaults.too_long
  const codes = error.details?.flatMap(({ code }) => code ?? []) ?? []
  if (codes.length === 0) return undefined
  return codes.map((code) => sentenceOfFault(code)).join(' ')

  function sentenceOfFault(code: PasswordFault): string {
    return code === 'too_short' ? passwordFaults.too_short(minLength) : passwordFaults[code]
  }
}
