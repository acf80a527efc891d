// A JSON Web Token with the claims that the client reads, and no valid signature.

/**
 * `id` makes it different from others. Times are in seconds; without `endsIn` it says nothing of
 * its end.
 */
export function jwt({
  id,
  endsIn,
  lifetime = endsIn,
}: {
  id: number
  endsIn?: number
  lifetime?: number
}): string {
  const exp = endsIn === undefined ? undefined : Date.now() / 1_000 + endsIn
  const iat = exp === undefined ? undefined : exp - (lifetime ?? 0)
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [
    encode({ typ: 'JWT' }),
    encode({ sub: 'Ünn ?>~', jti: String(id), exp, iat }),
    'signature',
  ].join('.')
}
