import type { FastifyReply } from 'fastify'
import { sourceOf } from '../audit/entry.ts'
import type { GuardedRequest } from '../http/operation.ts'
import { sessionSecrets, setCookie } from '../http/request/credentials.ts'
import { comesFromOtherSite } from '../http/requests.ts'
import type { SignInsNeeds } from '../sessions/own-sign-in.ts'
import { endTokens } from './sign-in.ts'

export async function endSignIn(
  needs: SignInsNeeds,
  request: GuardedRequest<null>,
  reply: FastifyReply,
): Promise<void> {
  const { cookie, allowedOrigins } = needs.site
  const source = sourceOf(needs, request)
  // Another site's form can send a cookie past the cross-site check with a username in its URL
  // (`Authorization: Basic`).
  const isForeign = comesFromOtherSite(request, allowedOrigins)
  const secrets = isForeign ? [] : sessionSecrets(request.raw.headers.cookie, cookie.name)
  await Promise.all([
    needs.sessions.revoke(secrets, source),
    endTokens(needs.accessTokens, request, source),
  ])
  if (!isForeign) setCookie(reply, cookie, '')
}
