// Two builds: the script of the page (browser.jsx), and the server, which renders the same components (server.jsx).
import { defineConfig } from 'vite'

export default defineConfig(({ isSsrBuild }) => {
  if (isSsrBuild) return { build: { emptyOutDir: false } }
  const output = { entryFileNames: 'assets/[name].js' }
  return { build: { outDir: 'dist/public', rolldownOptions: { input: 'browser.jsx', output } } }
})
