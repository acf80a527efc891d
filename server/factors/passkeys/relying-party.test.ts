import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relyingPartyFor } from './ceremonies.ts'

const of = (publicUrl: string, host?: string, allowedOrigins: string[] = []) =>
  relyingPartyFor({ site: { publicUrl: () => publicUrl, allowedOrigins } }, { headers: { host } })

test('passkeys belong to the host of the public URL, and its pages and those of the allowed origins may use them', () => {
  assert.deepEqual(of('https://carillon.example', 'carillon.example'), {
    id: 'carillon.example',
    origins: ['https://carillon.example'],
  })
  assert.deepEqual(
    of('https://app.example:8443/bell', 'app.example:8443', ['https://www.app.example']),
    {
      id: 'app.example',
      origins: ['https://app.example:8443', 'https://www.app.example'],
    },
  )
  assert.equal(of('http://localhost:7464', 'localhost:7464').id, 'localhost')
})

test('without a public URL, passkeys belong to localhost, and a request at 127.0.0.1 is told to use localhost', () => {
  const local = { id: 'localhost', origins: ['http://localhost:7464'] }
  for (const address of ['127.0.0.1', '127.8.8.8', '[::1]']) {
    assert.deepEqual(of(`http://${address}:7464`, 'localhost:7464'), local)
    assert.throws(() => of(`http://${address}:7464`, `${address}:7464`), {
      code: 'UNPROCESSABLE',
      message: `Passkeys need a host name, and http://${address}:7464 has an address. Use http://localhost:7464 instead.`,
    })
  }
  assert.throws(() => of('http://127.0.0.1:7464', '[::1]:7464'), {
    message: /Use http:\/\/localhost:7464 instead/,
  })
})

test('a public URL without a host name, or on plain HTTP, is refused with what to do', () => {
  for (const url of ['https://192.0.2.7', 'https://[2001:db8::7]:8443'])
    assert.throws(() => of(url, 'carillon.example'), {
      code: 'UNPROCESSABLE',
      message: /host name \(CARILLON_PUBLIC_URL\)/,
    })
  for (const url of ['http://carillon.example', 'http://localhost.example', 'http://notlocalhost'])
    assert.throws(() => of(url), { code: 'UNPROCESSABLE', message: /need HTTPS.*https URL/ })
})
