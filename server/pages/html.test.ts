import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from './html.ts'

test('values are escaped in the text of an element and in a quoted attribute; HTML made by a template is not', () => {
  const hostile = `"><script>alert('&')</script>`
  const inner = html`<b title="${hostile}">${hostile}</b>`
  const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;'
  assert.equal(html`<p>${inner}</p>`.text, `<p><b title="${escaped}">${escaped}</b></p>`)
})
