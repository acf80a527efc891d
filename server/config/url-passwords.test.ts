import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasPassword } from './url-passwords.ts'

test('finds a password in a URL in every spelling (L5)', () => {
  const withPassword = [
    'postgres://ann:pw@db/c',
    'postgres://ann:p%61ss@db/c',
    'postgres://ann%3Apw@db/c',
    'postgres://ann@db/c?password=pw',
    'postgres://ann@db/c?p%61ssword=pw',
    'postgres://ann@db/c?sslmode=require&Password=pw',
    'postgres://ann@db/c?sslpassword=pw',
    'postgres://ann:p@ss/w:rd@db:x/c',
    'https://ann:pw@bell.example',
    ' postgres://ann:pw@db/c',
  ]
  const without = [
    'postgres://ann@db:5432/c?options=a@b:c',
    'sqlite:data/a:b@c.db',
    'http://127.0.0.1:7464',
    '::1',
    '7464',
    'https://a.example,https://b.example',
  ]
  for (const url of withPassword) assert.ok(hasPassword(url), url)
  for (const url of without) assert.ok(!hasPassword(url), url)
})
