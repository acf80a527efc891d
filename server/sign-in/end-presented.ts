// What ends at a sign-out, and at a sign-in: every session and every token that the request presents, of either variant. A
// request can carry several, and whoever signs out means all of them.

import { bearerToken, type Presented, sessionSecrets } from './authenticate.ts'
import type { Sessions } from './session.ts'
import type { AccessTokens, TokenSubject } from './token/access-token.ts'

type Parts = { sessions: Sessions; accessTokens: AccessTokens; cookieName: string }
export type EndedSignIn = { userId: string; username: string; variant: 'stateful' | 'stateless' }

/** No client sends more than one; each costs the check of a signature, also for somebody without a proof. */
const maxTokens = 4

/** Ends what is valid of it, and answers whose sign-ins ended. What is forged, foreign or expired ends nothing. */
export async function endPresented(parts: Parts, presented: Presented): Promise<EndedSignIn[]> {
  const [sessions, tokens] = await Promise.all([
    parts.sessions.revoke(sessionSecrets(presented.cookie, parts.cookieName)),
    endTokens(parts, presented),
  ])
  return [...sessions.map(({ userId, username }) => ({ userId, username, variant: 'stateful' as const })), ...tokens]
}

/** The tokens alone: their whole sign-ins, renewed tokens included. */
export async function endTokens(
  { accessTokens }: Pick<Parts, 'accessTokens'>,
  { authorization }: Pick<Presented, 'authorization'>,
): Promise<EndedSignIn[]> {
  const tokens = authorization.slice(0, maxTokens).map((value) => bearerToken([value]))
  const subjects = await Promise.all(tokens.map((token) => (token === null ? null : accessTokens.verify(token))))
  const signIns = new Map<string, TokenSubject>()
  for (const subject of subjects) if (subject !== null) signIns.set(subject.signInId, subject)
  await Promise.all([...signIns.values()].map((subject) => accessTokens.revoke(subject)))
  return [...signIns.values()].map(({ userId, username }) => ({ userId, username, variant: 'stateless' }))
}
