# To be sourced by scripts that look at a page with a browser. Sets chromium, the program;
# it is empty where there is none.
chromium=
for name in chromium chromium-browser google-chrome; do
  chromium=$(command -v "$name") && break
done
