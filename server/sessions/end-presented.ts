// Ends every session and every token that a request presents, of either variant, at a sign-out and at a sign-in.
import type { Source } from '../audit/entry.ts'
import type { AccessTokens, TokenSubject } from '../tokens/access-token.ts'
import type { Sessions } from './sessions.ts'

export type EndedSignIn = {
  userId: string
  username: string | null
  signInId: string
  variant: 'stateful' | 'stateless'
}

/** Checked in one request. No client sends more than one, and each costs the check of a signature, even without a proof. */
const maxTokens = 4

/**
 * Ends those that are valid, and returns whose sign-ins ended. A forged, foreign or expired one ends nothing. With `source`, each end
 * is a sign-out for the audit log.
 */
export async function endPresented(
  { sessions, accessTokens }: { sessions: Sessions; accessTokens: AccessTokens },
  { secrets, tokens, source }: { secrets: readonly string[]; tokens: readonly string[]; source?: Source },
): Promise<EndedSignIn[]> {
  const [ended, endedByToken] = await Promise.all([
    sessions.revoke(secrets, source),
    endTokens(accessTokens, tokens, source),
  ])
  return [
    ...ended.map(({ userId, username, signInId }) => ({ userId, username, signInId, variant: 'stateful' as const })),
    ...endedByToken,
  ]
}

/** Ends the whole sign-in of each token, renewed tokens included. Only its issuer can end a foreign token. */
export async function endTokens(
  accessTokens: AccessTokens,
  tokens: readonly string[],
  source?: Source,
): Promise<EndedSignIn[]> {
  const subjects = await Promise.all(tokens.slice(0, maxTokens).map((token) => accessTokens.verifyOurs(token)))
  const signIns = new Map<string, TokenSubject>()
  for (const subject of subjects) if (subject !== null) signIns.set(subject.signInId, subject)
  await Promise.all([...signIns.values()].map((subject) => accessTokens.revoke(subject, source)))
  return [...signIns.values()].map(({ userId, username, signInId }) => ({
    userId,
    username,
    signInId,
    variant: 'stateless',
  }))
}
