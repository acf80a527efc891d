// The default theme of VitePress with the colors of Carillon and the fonts of the system.
import { Content, useData, withBase } from 'vitepress'
import DefaultTheme, { VPHomeContent, VPHomeHero } from 'vitepress/theme-without-fonts'
import { h, onMounted, ref } from 'vue'
import './look.css'

/** The gallery of the elements, in the theme of the site. */
const Gallery = {
  setup() {
    const { isDark } = useData()
    // The built page does not know the theme of its reader.
    const isMounted = ref(false)
    onMounted(() => {
      isMounted.value = true
    })
    const address = (state) => {
      const theme = isMounted.value && isDark.value ? 'dark' : 'light'
      return withBase(`/gallery/index.html?theme=${theme}${state}`)
    }
    // All states together move the focus, which would scroll the page.
    const frame = () =>
      h('iframe', { title: 'Gallery of the elements', src: address('&state=many') })
    return () => [
      h('div', { class: 'gallery' }, isMounted.value ? [frame()] : []),
      h('p', h('a', { href: address(''), target: '_self' }, 'The gallery with every state')),
    ]
  },
}

/** A run of the demonstration, which needs no service. */
const Recording = () =>
  h(
    'p',
    h(
      'a',
      { href: withBase('/demonstration/index.html'), target: '_self' },
      'Play a recording of the demonstration',
    ),
  )

/** Leads to the Markdown of the page, which lies beside it. */
const Markdown = {
  setup() {
    const { page } = useData()
    return () =>
      h('aside', { class: 'as-markdown', 'aria-label': 'Other forms of this page' }, [
        h(
          'a',
          { href: withBase(`/${page.value.relativePath}`), target: '_self' },
          'This page as Markdown',
        ),
      ])
  },
}

/** The front page. That of VitePress has no main landmark. */
const Front = () =>
  h('main', { class: 'front' }, [h(VPHomeHero), h(VPHomeContent, null, () => h(Content))])

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-after': () => h(Markdown) }),
  enhanceApp({ app }) {
    app.component('Gallery', Gallery)
    app.component('Recording', Recording)
    app.component('Front', Front)
  },
}
