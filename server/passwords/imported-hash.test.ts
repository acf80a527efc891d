import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CarillonError } from '../basics/errors.ts'
import { knownFormats, type Matches, readHash } from './imported-hash.ts'

const plain = 'plum orchard gate 41'
const unicode = 'Pflaume Öl 😀 straße'

/**
 * bcrypt 5.0.0, passlib 1.7.4, argon2-cffi 25.1.0, Django 5.2.19 and Werkzeug 3.1.9 for Python made
 * them.
 */
const vectors: [source: string, hash: string, password: string][] = [
  ['bcrypt (Python)', '$2a$04$7DRpzF/ArPk8gEL0EKSs9e3oyFLSSjQKyRBhv2U57PwWDtHEUyzRu', plain],
  ['bcrypt (Python)', '$2b$04$QEp8I7sbxyTO0AxTTj7DpeKA18TYFMgG4ZMahLRzyJxAYSSREnGzK', plain],
  [
    'bcrypt (Python), PHP prefix',
    '$2y$04$qCG23IeVNG1tsGY/ViFQV.Y/Kf0fsFuAsuFHclGIgUSoIE.j9BE2C',
    plain,
  ],
  [
    'bcrypt (Python), UTF-8',
    '$2b$04$ORwMPtyquQGwc1F1loqqHOnhI1aCMeFhpoU4DDbJ.6.SSa4BbHziC',
    unicode,
  ],
  [
    'bcrypt (Python), exactly 72 bytes',
    '$2b$04$uv0WJIaXKtYnASmxljfKBu9vxOm7APuGjCAmpPgWfvIC7VaUOQybS',
    'x'.repeat(72),
  ],
  [
    'passlib pbkdf2-sha256',
    '$pbkdf2-sha256$1000$utfaW2uN8b4XQihlbA0hxA$Kkf.W4VZQ.lZa8uYNUvS6E5TR734CwJWRhu9i1GAyQo',
    plain,
  ],
  [
    'passlib pbkdf2-sha512',
    '$pbkdf2-sha512$1000$ai3FOCdkDCEE4Hxvzdk7Jw$qKcTQ7hGU/NbQnF9GK596i4DGdaf/.R0emJNiuEcK/p6aGwfa6MehceyaGdhShXBPcGR.Jv1h9tf4iLKC9HNtQ',
    plain,
  ],
  [
    'passlib pbkdf2 (sha1)',
    '$pbkdf2$1000$/f8/R0gpRaj13lsrRehdyw$EJPueXbkqJyuGY9DH9Eme9DidVs',
    plain,
  ],
  [
    'passlib scrypt',
    '$scrypt$ln=10,r=8,p=1$JGTMWetda23NGcN4r5Wy9g$zvVKmnM0mRkpOVeopBE7rSlkrbSyv74FqVwi0UX/jlA',
    plain,
  ],
  [
    'argon2-cffi D',
    '$argon2d$v=19$m=1024,t=1,p=2$MDEyMzQ1Njc4OWFiY2RlZg$EeHj1hlT5klOd3kLAsuYeVvq06LjPACaaysKZNOqgak',
    plain,
  ],
  [
    'argon2-cffi I',
    '$argon2i$v=19$m=1024,t=1,p=2$MDEyMzQ1Njc4OWFiY2RlZg$adSvU1kzhsV1RCrPHFZhiWR3v85WV1iVAsb533YBp0s',
    plain,
  ],
  [
    'argon2-cffi ID',
    '$argon2id$v=19$m=1024,t=1,p=2$MDEyMzQ1Njc4OWFiY2RlZg$DZnQEhRB/REZOXcsvvy3KSC1DdfZu9iybwMiVRnF56s',
    plain,
  ],
  [
    'argon2-cffi v16',
    '$argon2i$v=16$m=1024,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$d+mv6k1LUe5ul0o5J2OC8bm3cfadm3LVrq5ffoKN8Ss',
    plain,
  ],
  [
    'argon2-cffi defaults',
    '$argon2id$v=19$m=65536,t=3,p=4$FRvpwyw3DBmJlyv/o00cDA$TgPpuliu1MY7vb3f3YcVz0IMKp/gdheeJnknVVcoD2s',
    unicode,
  ],
  [
    'Django pbkdf2_sha256',
    'pbkdf2_sha256$1000$abcSALT0123$plMWdRT3n0dU/MFMMdQfZ1lY/VmhM4HaLs95KhuXXeg=',
    plain,
  ],
  ['Django pbkdf2_sha1', 'pbkdf2_sha1$1000$abcSALT0123$R+07NCdpgRyyrYwkgeXo8KLWJso=', plain],
  [
    'Django argon2',
    'argon2$argon2id$v=19$m=102400,t=2,p=8$YWJjU0FMVDAxMjM$5M5TWiEJ5th1+bW7gwXeXwtFMA/BKnI7aCL25/0n31M',
    plain,
  ],
  [
    'Django bcrypt_sha256',
    'bcrypt_sha256$$2b$04$xQW7zzuJ0kT4c6SSmUiglepptKJaisF3JOvusYGz.JV6JPKNO7Zum',
    unicode,
  ],
  ['Django bcrypt', 'bcrypt$$2b$04$GQFPbRgfm/zP903GmrDwLOuQ9XEsT/uV5g.KqYjTV.929AuScF7X6', plain],
  [
    'Django scrypt',
    'scrypt$1024$abcSALT0123$8$5$20Jb2Gy0UfC6qocRB29v2QNLaUS1pb+ikg44Eyo7/ZSfOwVCKENBnlIXcHBj4YXe3YAIUYlt2OsRhO4PlckXyg==',
    plain,
  ],
  [
    'Werkzeug pbkdf2',
    'pbkdf2:sha256:1000$xnZJdKFSQRPeLr87$128a821f687de3a35b1cf920febc2a942afdfef0cd929037eca72108f161d32a',
    plain,
  ],
  [
    'Werkzeug scrypt',
    'scrypt:1024:8:1$SFCJZvVUJXr89Ult$fdc76bd4e41fe604cb91568fef81455c8f84ef162e991a89395c37b632e7fe2c5489995c59e71aad98379645becc36bd632c2866e7f9d1b643fec942a6300c55',
    plain,
  ],
  [
    'better-auth',
    '5e5520cc4a0e355e2fe07db2cd9df359:79b89b75c660850941a87258dce04f57781da5b71c1641f5712eca5cc88b55eb285450eb16af8381edf58e8cebc7c8dd4f18a5ab6212da80bfd9081c6c740a8e',
    unicode,
  ],
]

const matches = (hash: Matches, password: string) => hash(password, password)

for (const [source, hash, password] of vectors)
  test(`verifies a hash of ${source}, and refuses another password`, async () => {
    assert.equal(await matches(readHash(hash), password), true)
    assert.equal(await matches(readHash(hash), `${password.slice(0, -1)}_`), false)
  })

test('verifies the PHC form of PBKDF2', async () => {
  const hash =
    '$pbkdf2-sha256$i=1000,l=32$kDLmPKfU2tu7lzJGqJWydg$4UNfvUVMt6aZpmnS5Yhy4O1KVNplLCvwnSZlCnd5K1g'
  assert.equal(await matches(readHash(hash), plain), true)
})

test('verifies a test vector of RFC 7914, section 12', async () => {
  const key =
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887'
  assert.equal(
    await matches(readHash(`scrypt:16384:8:1$SodiumChloride$${key}`), 'pleaseletmein'),
    true,
  )
})

test('bcrypt reads 72 bytes of a password, as the systems do that made the hash', async () => {
  const hash = readHash(vectors.find(([source]) => source.includes('72 bytes'))?.[1] as string)
  assert.equal(await matches(hash, `${'x'.repeat(72)}more`), true)
  assert.equal(await matches(hash, 'x'.repeat(71)), false)
})

test('an unknown format is refused, and the reason lists the known ones (U3)', () => {
  const unknown = [
    '',
    'plum orchard gate 41',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '$1$salt$hash',
    '$6$salt$hash',
    '!unusable',
  ]
  const damaged = [
    '$2b$12$short',
    '$argon2id$v=19$m=1024$c2FsdHNhbHQ$aGFzaA',
    'pbkdf2_sha256$1000$salt',
    `$2b$${'1'.repeat(1 << 20)}`,
  ]
  for (const text of [
    ...unknown,
    ...damaged,
    '$2x$04$NOvCyjVuSIVhWIcHyMxlOuQNddtIqc6/GJREaLBVrKKv/oO1VEChq',
  ])
    assert.equal(
      reasonOf(text),
      `has an unknown format; known are ${knownFormats}`,
      text.slice(0, 60),
    )
})

const phc = '$MDEyMzQ1Njc4OWFiY2RlZg$EeHj1hlT5klOd3kLAsuYeVvq06LjPACaaysKZNOqgak'
const key = 'plMWdRT3n0dU/MFMMdQfZ1lY/VmhM4HaLs95KhuXXeg='

test('a hash that costs more than the bounds is refused with the bound (U3)', () => {
  const expensive: [string, RegExp][] = [
    [`$2b$14$${'a'.repeat(53)}`, /bcrypt cost must be at most 13/],
    [`$2b$31$${'a'.repeat(53)}`, /bcrypt cost must be at most 13/],
    [`$argon2id$v=19$m=1048576,t=1,p=1${phc}`, /at most 131072 KiB/],
    [`$argon2id$v=19$m=65536,t=9,p=1${phc}`, /524288 KiB in all passes/],
    [`$argon2id$v=19$m=4294967295,t=4294967295,p=255${phc}`, /costs too much/],
    [`pbkdf2_sha256$2000001$salt$${key}`, /at most 2000000 iterations/],
    [`$pbkdf2-sha256$1000001$c2FsdA$${'A'.repeat(86)}`, /at most 2000000 iterations/],
    [`$pbkdf2-sha512$1000001$c2FsdA$${'A'.repeat(86)}`, /at most 1000000 iterations/],
    [`$scrypt$ln=18,r=8,p=1$c2FsdA$${'A'.repeat(43)}`, /N \* r \* p = 1048576/],
    [`$scrypt$ln=10,r=1000000,p=1000000$c2FsdA$${'A'.repeat(43)}`, /N \* r \* p = 1048576/],
  ]
  for (const [text, reason] of expensive) assert.match(reasonOf(text), reason, text)
})

test('the defaults of current frameworks are within the bounds', () => {
  for (const text of [
    `$2y$12$${'a'.repeat(53)}`,
    `$argon2id$v=19$m=65536,t=4,p=1${phc}`,
    `argon2$argon2id$v=19$m=102400,t=2,p=8${phc}`,
    `pbkdf2_sha256$1200000$salt$${key}`,
    `$scrypt$ln=17,r=8,p=1$c2FsdA$${'A'.repeat(43)}`,
    `scrypt:32768:8:1$salt$${'ab'.repeat(64)}`,
  ])
    assert.ok(readHash(text))
})

test('parameters that no verifier accepts, and keys that other passwords would match, are refused', () => {
  const invalid: [string, RegExp][] = [
    [`$2b$03$${'a'.repeat(53)}`, /below 4/],
    [`$argon2id$v=19$m=1024,t=0,p=1${phc}`, /invalid argon2/],
    [`$argon2id$v=19$m=7,t=1,p=1${phc}`, /invalid argon2/],
    ['$argon2id$v=19$m=1024,t=1,p=1$c2FsdA$EeHj1hlT5klOd3kLAsuYeVvq06LjPACaaysKZNOqgak', /salt/],
    ['$argon2id$v=19$m=1024,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$EeHj', /key/],
    [`pbkdf2_sha256$0$salt$${key}`, /no PBKDF2 iterations/],
    ['pbkdf2_sha256$1000$salt$EeHj', /key/],
    [`scrypt$1000$salt$8$1$${key}`, /invalid scrypt/],
    [`scrypt$1024$salt$0$1$${key}`, /invalid scrypt/],
    [`scrypt$65536$salt$1$1$${key}`, /invalid scrypt/],
  ]
  for (const [text, reason] of invalid) assert.match(reasonOf(text), reason, text)
})

function reasonOf(text: string): string {
  try {
    readHash(text)
  } catch (error) {
    assert.ok(error instanceof CarillonError && error.code === 'INVALID_REQUEST')
    assert.equal(error.details?.[0]?.field, 'passwordHash')
    return error.details?.[0]?.reason ?? ''
  }
  return 'accepted'
}
