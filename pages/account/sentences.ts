// A failed request as a sentence, also for pages without Lit.
import { isCarillonError } from '../../client/transport/errors.ts'
import type { TextsOf } from '../../server/pages/texts/texts.ts'

type Words = TextsOf<'requests'>

export function sentenceOf(error: unknown, words: Words): string {
  if (!isCarillonError(error)) return words.failures.other
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

/** Undefined if the request failed for another reason. */
export function passwordFaultOf(
  error: unknown,
  { passwordFaults }: Words,
  minLength: number,
): string | undefined {
  if (!isCarillonError(error)) return undefined
  if (error.code === 'PAYLOAD_TOO_LARGE') return passwordFaults.too_long
  const faults = error.details?.filter(({ field }) => field === 'newPassword') ?? []
  if (faults.length === 0) return undefined
  const sentences = { ...passwordFaults, too_short: passwordFaults.too_short(minLength) }
  return faults.map(({ code }) => sentences[code ?? 'unusable']).join(' ')
}
