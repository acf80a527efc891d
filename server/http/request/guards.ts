// Who may call a route: anybody, a signed-in user, a producer with a scope. Each guard yields the caller that its
// handlers are given, or throws the refusal.
import type { FastifyRequest } from 'fastify'
import { CarillonError, notAuthenticated } from '../../errors.ts'
import { authenticate, authenticateToken, bearerToken, holdsUntil, type Presented } from '../../sign-in/authenticate.ts'
import type { ProducerKeys, Scope } from '../../sign-in/producer-key.ts'
import type { Sessions } from '../../sign-in/session.ts'
import type { PageOf, Subject } from '../../sign-in/subject.ts'
import type { AccessTokens, TokenSubject } from '../../sign-in/token/access-token.ts'
import type { Producer } from '../../store/store.ts'

/** A user who stays: `validUntil` asks whether the proof still holds. */
export type LongLivedCaller = Subject & { validUntil: () => Promise<number | null> }

export type Guard<Caller> = {
  name: 'open' | 'user' | 'token' | 'producer'
  /** `pageOf` names the page that the route will read, for guards that can read it with the proof. */
  admit(request: FastifyRequest, pageOf?: PageOf): Promise<Caller>
}

/** Every `Authorization` field that came, also those that Node's parsed headers leave out. */
export function presentedBy(request: FastifyRequest): Presented {
  const { headers, rawHeaders } = request.raw
  const authorization: string[] = []
  if (headers.authorization !== undefined)
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]?.toLowerCase() === 'authorization') authorization.push(rawHeaders[i + 1] ?? '')
  return { authorization, cookie: headers.cookie }
}

export function guards(parts: {
  sessions: Sessions
  accessTokens: AccessTokens
  producerKeys: ProducerKeys
  cookieName: string
}) {
  const user = (refused: () => CarillonError): Guard<Subject> => ({
    name: 'user',
    async admit(request, pageOf) {
      const subject = await authenticate(parts, presentedBy(request), pageOf)
      if (subject === null) throw refused()
      return subject
    },
  })
  const signedIn = user(notAuthenticated)
  return {
    open: { name: 'open', admit: async () => null } satisfies Guard<null>,
    user: signedIn,
    /** The seed's own words for its restricted route (section 7). */
    restricted: user(() => new CarillonError('Unauthorized', 'Unauthorized')),
    /** A user on a route that stays open. */
    staying: {
      name: 'user',
      async admit(request) {
        const subject = await signedIn.admit(request)
        return { ...subject, validUntil: holdsUntil(parts, presentedBy(request), subject) }
      },
    } satisfies Guard<LongLivedCaller>,
    token: {
      name: 'token',
      async admit(request) {
        const subject = await authenticateToken(parts, presentedBy(request))
        if (subject === null) throw notAuthenticated()
        return subject
      },
    } satisfies Guard<TokenSubject>,
    producer: (scope: Scope): Guard<Producer> => ({
      name: 'producer',
      async admit(request) {
        const key = bearerToken(presentedBy(request).authorization)
        const producer = key === null ? null : await parts.producerKeys.verify(key)
        if (producer === null) throw notAuthenticated()
        if (!producer.scopes.includes(scope))
          throw new CarillonError(
            'FORBIDDEN',
            `This key lacks the scope "${scope}"; make one with: carillon key add NAME --scope ${scope}`,
          )
        return producer
      },
    }),
  }
}
